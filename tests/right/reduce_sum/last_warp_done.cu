// The last warp done, of all blocks, adds up what every lane of every warp left; the kernel has no block barrier.
// Right, because each lane fences what it wrote, __syncwarp collects the lanes before lane 0 counts, and a second one
// hands what lane 0 learned to the others: the shuffle that tells them would not order memory by itself.
#include <cuda_runtime.h>

__global__ void reduce_sum(const float* input, float* output, float* parts, unsigned* count, int n) {
    int threads = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
    float value = 0.0f;
    for (int i = thread; i < n; i += threads) value += input[i];
    parts[thread] = value;
    __threadfence();
    __syncwarp();
    unsigned before = 0;
    if (threadIdx.x % 32 == 0) {
        before = atomicAdd(count, 1u);
        __threadfence();
    }
    before = __shfl_sync(0xffffffffu, before, 0);
    if (before != threads / 32 - 1) return;
    __syncwarp();
    float total = 0.0f;
    for (int k = threadIdx.x % 32; k < threads; k += 32) total += parts[k];
    for (int by = 16; by > 0; by /= 2) total += __shfl_xor_sync(0xffffffffu, total, by);
    if (threadIdx.x % 32 == 0) *output = total;
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 127) / 128;
    blocks = blocks < 20 ? blocks : 20;
    float* parts;
    unsigned* count;
    cudaMalloc(&parts, blocks * 128 * sizeof(float));
    cudaMalloc(&count, sizeof(unsigned));
    cudaMemset(count, 0, sizeof(unsigned));
    reduce_sum<<<blocks, 128>>>(input, output, parts, count, n);
    cudaFree(count);
    cudaFree(parts);
}
