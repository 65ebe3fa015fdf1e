// Two elements to a thread through float2 and __ldg, the odd last one by the thread after the last pair.
// Right, because buffers are aligned to 8 bytes, and no pair is read that reaches past n.
__global__ void add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair < n / 2) {
        float2 x = __ldg(reinterpret_cast<const float2*>(a) + pair);
        float2 y = __ldg(reinterpret_cast<const float2*>(b) + pair);
        reinterpret_cast<float2*>(c)[pair] = make_float2(x.x + y.x, x.y + y.y);
    } else if (2 * pair < n) {
        c[2 * pair] = __ldg(a + 2 * pair) + __ldg(b + 2 * pair);
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    int pairs = (n + 1) / 2;
    add<<<(pairs + 255) / 256, 256>>>(a, b, c, n);
}
