// finds: many_blocks
// says: 131,072 blocks of 32 threads
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 31) / 32, 32>>>(a, b, c, n);
}
