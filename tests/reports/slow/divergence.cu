// finds: divergence
// line: 8
// says: of 32 lanes work on average
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    for (int step = 0; step < (i % 32) * 8; step++) x = x * 0.999f + b[i];
    c[i] = x;
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
