// Blocks of 1000: the last warp has eight lanes. Its shuffles name those eight, and no others.
// Right, because the mask comes from a ballot that the whole warp takes before anything diverges, and what a shuffle
// brings from a lane outside the mask, which is undefined, is dropped.
constexpr int kThreads = 1000, kWarps = 32;

__device__ float warp_sum(unsigned mask, float value) {
    int lane = threadIdx.x % 32, lanes = __popc(mask);
    for (int by = 16; by > 0; by /= 2) {
        float other = __shfl_down_sync(mask, value, by);
        if (lane + by < lanes) value += other;
    }
    return value;
}

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float sums[kWarps];
    unsigned mask = __ballot_sync(threadIdx.x < 992 ? 0xffffffffu : 0xffu, true);
    float value = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) value += input[i];
    value = warp_sum(mask, value);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = warp_sum(0xffffffffu, sums[threadIdx.x]);
        if (threadIdx.x == 0) atomicAdd(output, value);
    }
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + kThreads - 1) / kThreads;
    reduce_sum<<<blocks < 50 ? blocks : 50, kThreads>>>(input, output, n);
}
