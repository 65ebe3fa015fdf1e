// expect: left_out
// says: only the first 16,777,216 of
// Blocks from 65,536 on do once more what the first ones did.
#include <cuda_runtime.h>

__global__ void relu(const float* x, float* y, int n) {
    unsigned short block = blockIdx.x;
    int i = block * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

void solve(const float* x, float* y, int n) {
    relu<<<(n + 255) / 256, 256>>>(x, y, n);
}
