// expect: first_block_only
// says: first 256
// One block and no loop.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<1, 256>>>(a, b, c, n);
}
