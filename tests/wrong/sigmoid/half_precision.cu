// expect: scattered
// says: all are close
// The arithmetic is done on float16.
#include <cuda_fp16.h>

__global__ void sigmoid(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        __half one = __float2half(1.0f);
        y[i] = __half2float(__hdiv(one, __hadd(one, hexp(__hneg(__float2half(x[i]))))));
    }
}

void solve(const float* x, float* y, int n) {
    sigmoid<<<(n + 255) / 256, 256>>>(x, y, n);
}
