// The last block done adds up what every thread of every block wrote, not only thread 0.
// Right, because each thread fences its own write, the barrier collects them, and only then one thread counts the
// block: the other shape of the pattern, in which the writers and the one who counts are different threads.
constexpr int kThreads = 128, kMostBlocks = 64;

__device__ float sums[kMostBlocks * kThreads];
__device__ unsigned done = 0;

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ bool last;
    __shared__ float tree[kThreads];
    float mine = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) mine += input[i];
    sums[blockIdx.x * kThreads + threadIdx.x] = mine;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    float total = 0.0f;
    for (int i = threadIdx.x; i < gridDim.x * kThreads; i += kThreads) total += sums[i];
    tree[threadIdx.x] = total;
    for (int half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *output = tree[0];
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + kThreads - 1) / kThreads;
    reduce_sum<<<blocks < kMostBlocks ? blocks : kMostBlocks, kThreads>>>(input, output, n);
}
