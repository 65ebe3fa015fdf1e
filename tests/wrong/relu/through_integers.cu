// expect: scattered | factor
// says: got
// max(int, int) is chosen: fractions are cut off.
__global__ void relu(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = max(static_cast<int>(x[i]), 0);
    }
}

void solve(const float* x, float* y, int n) {
    relu<<<(n + 255) / 256, 256>>>(x, y, n);
}
