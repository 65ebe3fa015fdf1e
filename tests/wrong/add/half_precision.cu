// expect: scattered | nan
// says: got
// The addition is done on float16.
#include <cuda_fp16.h>

__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = __half2float(__hadd(__float2half(a[i]), __float2half(b[i])));
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
