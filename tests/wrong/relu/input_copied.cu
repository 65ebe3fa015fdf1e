// expect: copied_input
// says: copy of x
// The comparison is the wrong way round for negative numbers.
__global__ void relu(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i] > -INFINITY ? x[i] : 0.0f;
    }
}

void solve(const float* x, float* y, int n) {
    relu<<<(n + 255) / 256, 256>>>(x, y, n);
}
