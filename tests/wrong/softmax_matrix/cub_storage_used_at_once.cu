// expect: race
// says: race on storage
// line: 29
// The storage of one CUB reduction is used for the next with no barrier in between.
#include <cub/block/block_reduce.cuh>

constexpr int kThreads = 96;

struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

__global__ void softmax(const float* input, float* output, int cols) {
    using Warps = cub::BlockReduce<float, kThreads, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
    using Raking = cub::BlockReduce<float, kThreads, cub::BLOCK_REDUCE_RAKING>;
    __shared__ union {
        typename Warps::TempStorage warps;
        typename Raking::TempStorage raking;
    } storage;
    __shared__ float highest, total;
    const float* from = input + static_cast<size_t>(blockIdx.x) * cols;
    float* to = output + static_cast<size_t>(blockIdx.x) * cols;
    float value = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += kThreads) value = fmaxf(value, from[c]);
    value = Warps(storage.warps).Reduce(value, Larger());
    if (threadIdx.x == 0) highest = value;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) sum += expf(from[c] - highest);
    sum = Raking(storage.raking).Sum(sum);
    if (threadIdx.x == 0) total = sum;
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += kThreads) to[c] = expf(from[c] - highest) / total;
}

void solve(const float* input, float* output, int rows, int cols) {
    softmax<<<rows, kThreads>>>(input, output, cols);
}
