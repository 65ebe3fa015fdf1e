// finds: local_memory
// says: in local memory
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float kept[64];
    for (int step = 0; step < 64; step++) kept[step * 7 % 64] = a[i] * step;
    float sum = 0.0f;
    for (int step = 0; step < 64; step++) sum += kept[(i + step * 5) % 64];
    c[i] = sum + b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
