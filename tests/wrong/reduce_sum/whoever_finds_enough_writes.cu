// expect: race
// says: other blocks
// line: 12
// Each block adds its sum and writes the total as it finds it: the last to write need not be the last to add.
#include <cuda_runtime.h>

__global__ void reduce_sum(const float* input, float* output, float* sum, int n) {
    float value = 0.0f;
    for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += gridDim.x * 32) value += input[i];
    for (int by = 16; by > 0; by /= 2) value += __shfl_down_sync(0xffffffffu, value, by);
    if (threadIdx.x == 0) {
        float before = atomicAdd(sum, value);
        atomicExch(output, before + value);
    }
}

void solve(const float* input, float* output, int n) {
    float* sum;
    cudaMalloc(&sum, sizeof(float));
    cudaMemset(sum, 0, sizeof(float));
    reduce_sum<<<16, 32>>>(input, output, sum, n);
    cudaFree(sum);
}
