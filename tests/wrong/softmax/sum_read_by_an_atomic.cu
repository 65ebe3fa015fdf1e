// expect: race
// says: other blocks
// line: 28
// Blocks divide by a sum that others still add to. Reading it by an atomic is no data race, and no less too early.
#include <cuda_runtime.h>

__device__ float over_warp(float value, bool adding) {
    for (int by = 16; by > 0; by /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, value, by);
        value = adding ? value + other : fmaxf(value, other);
    }
    return value;
}

__global__ void find_highest(const float* input, float* highest, int n) {
    float value = -INFINITY;
    for (int i = threadIdx.x; i < n; i += 32) value = fmaxf(value, input[i]);
    value = over_warp(value, false);
    if (threadIdx.x == 0) *highest = value;
}

__global__ void sum_and_divide(const float* input, const float* highest, float* sum, float* output, int n) {
    __shared__ float total;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float e = i < n ? expf(input[i] - *highest) : 0.0f, part = over_warp(e, true);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, part);
    __syncthreads();
    if (threadIdx.x == 0) total = atomicAdd(sum, 0.0f);
    __syncthreads();
    if (i < n) output[i] = e / total;
}

void solve(const float* input, float* output, int n) {
    float* scratch;
    cudaMalloc(&scratch, 2 * sizeof(float));
    cudaMemset(scratch, 0, 2 * sizeof(float));
    find_highest<<<1, 32>>>(input, scratch + 1, n);
    sum_and_divide<<<(n + 255) / 256, 256>>>(input, scratch + 1, scratch, output, n);
    cudaFree(scratch);
}
