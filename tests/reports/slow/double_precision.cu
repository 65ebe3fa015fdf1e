// finds: double_precision
// line: 8
// says: 1.0f
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    for (int step = 0; step < 64; step++) x = x * 0.999 + 1.0;
    c[i] = x + b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
