// finds: uncoalesced_load
// line: 7
// says: 32 sectors a request where 4 would do
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, far = n / 32;
    if (i >= n) return;
    float x = a[i % far * 32 + i / far];
    c[i] = x + b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
