// expect: complement
// says: got
// e^x where e^-x is meant: the mirror image, right at 0 only.
__global__ void sigmoid(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = 1.0f / (1.0f + expf(x[i]));
    }
}

void solve(const float* x, float* y, int n) {
    sigmoid<<<(n + 255) / 256, 256>>>(x, y, n);
}
