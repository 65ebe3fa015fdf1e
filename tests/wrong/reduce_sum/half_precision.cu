// expect: scattered | nan
// says: element is
// Elements are rounded to float16 on the way in; the sum is a float.
#include <cuda_fp16.h>

__global__ void reduce_sum(const float* input, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(output, __half2float(__float2half(input[i])));
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n);
}
