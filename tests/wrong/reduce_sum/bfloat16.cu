// expect: scattered | differs_between_runs
// says: is wrong
// Elements are rounded to bfloat16 on the way in; the sum is a float.
#include <cuda_bf16.h>

__global__ void reduce_sum(const float* input, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(output, __bfloat162float(__float2bfloat16(input[i])));
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n);
}
