// expect: nan
// says: NaN
// e^x / (1 + e^x) is inf / inf above 88.7.
__global__ void sigmoid(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float e = expf(x[i]);
        y[i] = e / (1.0f + e);
    }
}

void solve(const float* x, float* y, int n) {
    sigmoid<<<(n + 255) / 256, 256>>>(x, y, n);
}
