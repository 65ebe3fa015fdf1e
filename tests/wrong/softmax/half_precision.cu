// expect: scattered
// says: in no simpler pattern
// The exponentials are float16.
#include <cuda_fp16.h>

__device__ float half_exp(float x) {
    return __half2float(hexp(__float2half(x)));
}

__global__ void softmax(const float* input, float* output, int n) {
    float max = -INFINITY;
    for (int i = threadIdx.x; i < n; i += 32) {
        max = fmaxf(max, input[i]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, offset));
    }
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) {
        sum += half_exp(input[i] - max);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    }
    for (int i = threadIdx.x; i < n; i += 32) {
        output[i] = half_exp(input[i] - max) / sum;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 32>>>(input, output, n);
}
