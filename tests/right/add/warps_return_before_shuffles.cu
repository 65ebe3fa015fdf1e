// Whole warps without work return, and the others go on to shuffle with the full mask.
// Right, because n is rounded up to whole warps first: a warp leaves as one, and those that stay are complete.
constexpr unsigned kFull = 0xffffffffu;

__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (n + 31) / 32 * 32) return;
    float x = i < n ? a[i] : 0.0f;
    // Each lane loads the b of its neighbour, and the two swap: pointless, but it needs every lane of the warp.
    float y = (i ^ 1) < n ? b[i ^ 1] : 0.0f;
    float sum = x + __shfl_xor_sync(kFull, y, 1);
    if (i < n) c[i] = sum;
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
