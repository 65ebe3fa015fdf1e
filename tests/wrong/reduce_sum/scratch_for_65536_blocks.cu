// expect: out_of_bounds
// says: past the end of scratch
// line: 19
// One sum for each block, and room for 65,536 of them: the size that reduce_sum is timed at has twice as many blocks.
#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kMostBlocks = 65536;

__global__ void sum_blocks(const float* input, float* sums, int n) {
    __shared__ float tree[kThreads];
    int i = blockIdx.x * kThreads + threadIdx.x;
    tree[threadIdx.x] = i < n ? input[i] : 0.0f;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = tree[0];
}

__global__ void sum_sums(const float* sums, float* output, int blocks) {
    __shared__ float tree[kThreads];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < blocks; i += kThreads) sum += sums[i];
    tree[threadIdx.x] = sum;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) output[0] = tree[0];
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + kThreads - 1) / kThreads;
    float* sums;
    cudaMalloc(&sums, kMostBlocks * sizeof(float));
    sum_blocks<<<blocks, kThreads>>>(input, sums, n);
    sum_sums<<<1, kThreads>>>(sums, output, blocks);
    cudaFree(sums);
}
