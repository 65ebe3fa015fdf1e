// expect: first_block_only
// says: first 256
// The index forgets the block.
__global__ void sigmoid(const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (i < n) {
        y[i] = 1.0f / (1.0f + expf(-x[i]));
    }
}

void solve(const float* x, float* y, int n) {
    sigmoid<<<(n + 255) / 256, 256>>>(x, y, n);
}
