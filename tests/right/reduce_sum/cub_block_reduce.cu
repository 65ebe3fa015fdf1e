// CUB's block reduction, called twice on one TempStorage, which is shared memory of a type of its own.
// Right, because a barrier stands between the two calls; CUB uses only part of the storage in each.
#include <cub/block/block_reduce.cuh>

constexpr int kThreads = 160;

__global__ void reduce_sum(const float* input, float* output, int n) {
    using Reduce = cub::BlockReduce<float, kThreads>;
    __shared__ typename Reduce::TempStorage storage;
    float positive = 0.0f, negative = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        (input[i] > 0.0f ? positive : negative) += input[i];
    }
    float first = Reduce(storage).Sum(positive);
    __syncthreads();
    float second = Reduce(storage).Sum(negative);
    if (threadIdx.x == 0) atomicAdd(output, first + second);
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + kThreads - 1) / kThreads;
    reduce_sum<<<blocks < 100 ? blocks : 100, kThreads>>>(input, output, n);
}
