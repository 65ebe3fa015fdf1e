// expect: out_of_bounds
// says: before the start of x
// line: 13
// Each block takes an equal part, from block * n / blocks on. With 32 million elements that product leaves int from
// block 64 on, and becomes negative.
#include <cuda_runtime.h>

constexpr int kBlocks = 256, kThreads = 256;

__global__ void sigmoid(const float* x, float* y, int n) {
    int block = blockIdx.x;
    int start = block * n / kBlocks, end = (block + 1) * n / kBlocks;
    for (int i = start + threadIdx.x; i < end; i += kThreads) y[i] = 1.0f / (1.0f + expf(-x[i]));
}

void solve(const float* x, float* y, int n) {
    sigmoid<<<kBlocks, kThreads>>>(x, y, n);
}
