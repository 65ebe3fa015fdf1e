// expect: scattered
// says: in no simpler pattern
// |x| is limited to 10 "to be safe": 1 - sigmoid(10) is 4.5e-5, not 0.
__global__ void sigmoid(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = fminf(fmaxf(x[i], -10.0f), 10.0f);
        y[i] = 1.0f / (1.0f + expf(-v));
    }
}

void solve(const float* x, float* y, int n) {
    sigmoid<<<(n + 255) / 256, 256>>>(x, y, n);
}
