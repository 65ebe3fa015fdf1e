// The last tile is shorter than the block, and its missing part in shared memory is never written; sums are chosen by a
// conditional, which the compiler is free to turn round: add first, choose afterwards.
// Right, because in the language nothing is added where the condition is false, and what is dropped has no effect.
constexpr int kThreads = 128;

__global__ void add(const float* a, const float* b, float* c, int n) {
    __shared__ float2 pairs[kThreads];
    int start = blockIdx.x * kThreads, count = min(kThreads, n - start);
    if (threadIdx.x < count) pairs[threadIdx.x] = make_float2(a[start + threadIdx.x], b[start + threadIdx.x]);
    __syncthreads();
    int mine = kThreads - 1 - threadIdx.x;
    float2 pair = pairs[mine];
    float sum = mine < count ? pair.x + pair.y : 0.0f;
    float largest = __reduce_max_sync(0xffffffffu, __float_as_uint(fabsf(sum)));  // every lane's sum matters here
    if (mine < count) c[start + mine] = largest < 0.0f ? 0.0f : sum;
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + kThreads - 1) / kThreads, kThreads>>>(a, b, c, n);
}
