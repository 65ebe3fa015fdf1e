// expect: scattered | tail
// says: never written
// Only positive elements are stored, as if the output started at zero.
__global__ void relu(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f) {
        y[i] = x[i];
    }
}

void solve(const float* x, float* y, int n) {
    relu<<<(n + 255) / 256, 256>>>(x, y, n);
}
