// finds: few_blocks
// says: Only 1 of 108 multiprocessors get work
__global__ void add(const float* a, const float* b, float* c, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) c[i] = a[i] + b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<1, 1024>>>(a, b, c, n);
}
