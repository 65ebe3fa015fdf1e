// finds: short_blocks
// says: A block of 40 threads
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    for (int step = 0; step < 200; step++) x = x * 0.999f + b[i];
    c[i] = x;
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 39) / 40, 40>>>(a, b, c, n);
}
