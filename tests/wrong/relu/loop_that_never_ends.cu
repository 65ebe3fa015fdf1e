// expect: runaway
// says: nothing changes any more
// line: 8
// The step of the grid-stride loop is missing: every thread writes its first element again and again.
__global__ void relu(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < n) {
        y[i] = fmaxf(x[i], 0.0f);
    }
}

void solve(const float* x, float* y, int n) {
    relu<<<4, 64>>>(x, y, n);
}
