// finds: uncoalesced_store
// line: 7
// says: 128 bytes apart
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, far = n / 32;
    if (i >= n) return;
    c[i % far * 32 + i / far] = a[i] + b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
