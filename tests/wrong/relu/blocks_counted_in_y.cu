// expect: launch
// says: 65,535
// line: 13
// Blocks are counted in y, where a grid ends at 65,535: enough for 16 million elements, and relu is timed at 32 million.
#include <cuda_runtime.h>

__global__ void relu(const float* x, float* y, int n) {
    int i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

void solve(const float* x, float* y, int n) {
    relu<<<dim3(1, (n + 255) / 256), 256>>>(x, y, n);
}
