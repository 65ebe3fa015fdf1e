// A block leaves its two sums in two volatile slots that start as NaN; the last block polls each slot until it holds a
// number. There is no flag, and no fence.
// Right, because every slot is asked for itself: nothing is concluded about one from the other. It leans on blocks
// starting in order of their numbers, or on all running at once.
#include <cuda_runtime.h>

constexpr int kThreads = 128;

__device__ float warp_sum(float value) {
    for (int by = 16; by > 0; by /= 2) value += __shfl_xor_sync(0xffffffffu, value, by);
    return value;
}

__global__ void reduce_sum(const float* input, float* output, volatile float* slots, int n) {
    __shared__ float sums[kThreads / 32];
    float value = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) value += input[i];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        slots[2 * blockIdx.x] = sums[0] + sums[1];
        slots[2 * blockIdx.x + 1] = sums[2] + sums[3];
    }
    if (blockIdx.x + 1 < gridDim.x || threadIdx.x >= 32) return;
    __syncwarp();  // lane 0 has left the block's own slots: no lane of its warp polls for those
    float total = 0.0f;
    for (int slot = 2 * gridDim.x - 1 - threadIdx.x; slot >= 0; slot -= 32) {
        float sum = slots[slot];
        while (sum != sum) sum = slots[slot];
        total += sum;
    }
    total = warp_sum(total);
    if (threadIdx.x == 0) *output = total;
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + kThreads - 1) / kThreads;
    blocks = blocks < 24 ? blocks : 24;
    float* slots;
    cudaMalloc(&slots, 2 * blocks * sizeof(float));
    cudaMemset(slots, 0xff, 2 * blocks * sizeof(float));  // all bits set: not a number
    reduce_sum<<<blocks, kThreads>>>(input, output, slots, n);
    cudaFree(slots);
}
