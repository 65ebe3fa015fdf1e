// expect: input_changed
// says: x
// x is overwritten on the way.
__global__ void negate(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = -x[i];
    }
}

__global__ void sigmoid(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = 1.0f / (1.0f + expf(x[i]));
    }
}

void solve(float* x, float* y, int n) {
    int grid = (n + 255) / 256;
    negate<<<grid, 256>>>(x, n);
    sigmoid<<<grid, 256>>>(x, y, n);
}
