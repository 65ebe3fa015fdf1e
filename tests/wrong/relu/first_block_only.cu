// expect: first_block_only
// says: first 256
// One block and no loop.
__global__ void relu(const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (i < n) {
        y[i] = fmaxf(x[i], 0.0f);
    }
}

void solve(const float* x, float* y, int n) {
    relu<<<1, 256>>>(x, y, n);
}
