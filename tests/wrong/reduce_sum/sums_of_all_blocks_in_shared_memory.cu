// expect: launch
// says: bytes of shared memory
// line: 39
// The last block takes the sums of all blocks into shared memory. At the size that reduce_sum is timed at that is 512 KB,
// more than any block has.
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__device__ float tree_sum(float* tree, int count) {
    for (int half = count / 2; half > 0; half /= 2) {
        __syncthreads();
        for (int i = threadIdx.x; i < half; i += kThreads) tree[i] += tree[i + half];
    }
    return tree[0];
}

__global__ void sum_part(const float* input, float* sums, int n, int room) {
    extern __shared__ float tree[];
    for (int i = threadIdx.x; i < room; i += kThreads) {
        int at = blockIdx.x * room + i;
        tree[i] = at < n ? input[at] : 0.0f;
    }
    float sum = tree_sum(tree, room);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

int power_of_two(int n) {
    int power = 1;
    while (power < n) power *= 2;
    return power;
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + kThreads - 1) / kThreads, room = power_of_two(blocks);
    float* sums;
    cudaMalloc(&sums, blocks * sizeof(float));
    sum_part<<<blocks, kThreads, kThreads * sizeof(float)>>>(input, sums, n, kThreads);
    cudaFuncSetAttribute(sum_part, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (room < kThreads ? kThreads : room) * (int)sizeof(float));
    sum_part<<<1, kThreads, room * sizeof(float)>>>(sums, output, blocks, room);
    cudaFree(sums);
}
