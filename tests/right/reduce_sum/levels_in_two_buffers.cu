// One launch a level, between two halves of one scratch buffer, until a single sum is left.
// Right, because launches of a stream follow one another: a buffer is read when the launch that wrote it is over.
#include <cuda_runtime.h>

constexpr int kThreads = 64, kEach = 8, kShare = kThreads * kEach;

__global__ void add_up(const float* from, float* to, int n) {
    __shared__ float sums[kThreads];
    float value = 0.0f;
    for (int k = 0; k < kEach; ++k) {
        int i = blockIdx.x * kShare + k * kThreads + threadIdx.x;
        if (i < n) value += from[i];
    }
    sums[threadIdx.x] = value;
    for (int half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) to[blockIdx.x] = sums[0];
}

void solve(const float* input, float* output, int n) {
    int most = (n + kShare - 1) / kShare;
    float* scratch;
    cudaMalloc(&scratch, 2 * most * sizeof(float));
    const float* from = input;
    float* to = scratch;
    while (n > kShare) {
        int blocks = (n + kShare - 1) / kShare;
        add_up<<<blocks, kThreads>>>(from, to, n);
        from = to;
        to = to == scratch ? scratch + most : scratch;
        n = blocks;
    }
    add_up<<<1, kThreads>>>(from, output, n);
    cudaFree(scratch);
}
