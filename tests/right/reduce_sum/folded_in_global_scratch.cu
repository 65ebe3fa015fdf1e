// One block folds the vector in global memory, in place, with the threads reading what others of the block wrote.
// Right, because __syncthreads orders the block's global memory too, and it is one block.
#include <cuda_runtime.h>

__global__ void fold(float* values, float* output, int n) {
    while (n > 1) {
        int half = (n + 1) / 2;
        for (int i = threadIdx.x; i + half < n; i += blockDim.x) values[i] += values[i + half];
        __syncthreads();
        n = half;
    }
    if (threadIdx.x == blockDim.x - 1) *output = values[0];
}

void solve(const float* input, float* output, int n) {
    float* values;
    cudaMalloc(&values, n * sizeof(float));
    cudaMemcpyAsync(values, input, n * sizeof(float), cudaMemcpyDeviceToDevice);
    fold<<<1, 1024>>>(values, output, n);
    cudaFree(values);
}
