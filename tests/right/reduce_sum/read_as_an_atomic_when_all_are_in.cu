// All blocks add to one word, then to a counter; block 0 spins on the counter by atomicAdd of 0, and takes the sum by
// atomicExch.
// Right, because it waits until all have counted, and each counted after a fence behind its addition. It leans on all
// blocks of a small grid running at once.
#include <cuda_runtime.h>

__global__ void reduce_sum(const float* input, float* output, float* sum, unsigned* count, int n) {
    float value = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += input[i];
    for (int by = 16; by > 0; by /= 2) value += __shfl_down_sync(0xffffffffu, value, by);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(sum, value);
        __threadfence();
        atomicAdd(count, 1u);
    }
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    unsigned warps = gridDim.x * (blockDim.x / 32);
    while (atomicAdd(count, 0u) < warps) __nanosleep(100);
    __threadfence();
    *output = atomicExch(sum, 0.0f);
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 127) / 128;
    float* sum;
    cudaMalloc(&sum, 2 * sizeof(float));
    cudaMemset(sum, 0, 2 * sizeof(float));
    reduce_sum<<<blocks < 16 ? blocks : 16, 128>>>(input, output, sum, reinterpret_cast<unsigned*>(sum + 1), n);
    cudaFree(sum);
}
