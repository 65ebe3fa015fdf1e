// The last warp of a tree works without block barriers, on volatile shared memory.
// Right, because __syncwarp stands between every read and the write that follows it, and again before the next read.
constexpr int kThreads = 256;

__device__ void warp_tree(volatile float* sums, int lane) {
    float value = sums[lane];
    for (int by = 32; by > 0; by /= 2) {
        value += sums[lane + by];
        __syncwarp();
        sums[lane] = value;
        __syncwarp();
    }
}

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float sums[kThreads];
    float value = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) value += input[i];
    sums[threadIdx.x] = value;
    __syncthreads();
    for (int half = kThreads / 2; half > 32; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x < 32) warp_tree(sums, threadIdx.x);
    if (threadIdx.x == 0) atomicAdd(output, sums[0]);
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + kThreads - 1) / kThreads;
    reduce_sum<<<blocks < 100 ? blocks : 100, kThreads>>>(input, output, n);
}
