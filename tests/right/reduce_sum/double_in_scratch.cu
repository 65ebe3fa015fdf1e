// The total is kept as a double that blocks add to by atomicAdd, and rounded to float once, by another kernel.
// Right, because the scratch is aligned for a double, and all bits zero is 0.0.
#include <cuda_runtime.h>

__global__ void add_up(const float* input, double* total, int n) {
    double value = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += input[i];
    for (int by = 16; by > 0; by /= 2) value += __shfl_xor_sync(0xffffffffu, value, by);
    if (threadIdx.x % 32 == 0) atomicAdd(total, value);
}

__global__ void round_once(const double* total, float* output) { *output = static_cast<float>(*total); }

void solve(const float* input, float* output, int n) {
    double* total;
    cudaMalloc(&total, sizeof(double));
    cudaMemset(total, 0, sizeof(double));
    add_up<<<32, 256>>>(input, total, n);
    round_once<<<1, 1>>>(total, output);
    cudaFree(total);
}
