// Rung 6: warp shuffle, then shared memory, then shuffle
//
// Changes: the lanes of a warp pass values through registers; only one word a warp goes through
// shared memory.
// Removes: eight of the nine barriers and nearly all of the shared memory traffic.
// Still costs: two 4-byte loads a thread, then the block is done: little is in flight, and its
// start-up, its barrier and its atomic are paid for every 1024 elements.

constexpr int kBlock = 512;
constexpr int kWarps = kBlock / 32;
constexpr unsigned kFullMask = 0xffffffffu;

__device__ float warp_sum(float value) {  // lane 0 holds the sum of all 32 lanes
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(kFullMask, value, offset);
    }
    return value;
}

__device__ float block_sum(float value) {  // thread 0 holds the sum of the block
    __shared__ float warp_sums[kWarps];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    value = warp_sum(value);
    if (lane == 0) {
        warp_sums[warp] = value;
    }
    __syncthreads();
    if (warp == 0) {  // the whole first warp, so that the full mask is true
        value = warp_sum(lane < kWarps ? warp_sums[lane] : 0.0f);
    }
    return value;
}

__global__ void reduce_sum(const float* input, float* output, int n) {
    int i = blockIdx.x * (2 * kBlock) + threadIdx.x;
    float low = i < n ? input[i] : 0.0f;
    float high = i + kBlock < n ? input[i + kBlock] : 0.0f;
    float sum = block_sum(low + high);
    if (threadIdx.x == 0) {
        atomicAdd(output, sum);
    }
}

void solve(const float* input, float* output, int n) {
    int per_block = 2 * kBlock;
    reduce_sum<<<(n + per_block - 1) / per_block, kBlock>>>(input, output, n);
}
