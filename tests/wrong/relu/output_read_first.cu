// expect: uninitialised
// says: which nothing has written
// line: 8
// fmaxf(y, ...) keeps whatever the output held.
__global__ void relu(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = fmaxf(y[i], x[i]);
    }
}

void solve(const float* x, float* y, int n) {
    relu<<<(n + 255) / 256, 256>>>(x, y, n);
}
