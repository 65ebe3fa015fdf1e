// expect: zeros|scattered
// says: 0
// The exponential is truncated to an integer, and so is the quotient.
__global__ void sigmoid(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int e = static_cast<int>(expf(-fabsf(x[i]))) + 1;
        y[i] = 1 / (1 + e);
    }
}

void solve(const float* x, float* y, int n) {
    sigmoid<<<(n + 255) / 256, 256>>>(x, y, n);
}
