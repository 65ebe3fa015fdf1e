// Half warps use shared memory among themselves: __syncwarp with the mask of the half, in branches that the two halves
// leave at different times; then tiles of cooperative groups do the same by their sync().
// Right, because every place is written and read by lanes of one half, and the mask names all of these.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
constexpr int kThreads = 128;

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float slots[kThreads];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int lane = threadIdx.x % 16;
    unsigned mask = threadIdx.x % 32 < 16 ? 0x0000ffffu : 0xffff0000u;
    float* mine = slots + threadIdx.x / 16 * 16;
    float value = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) value += input[i];
    mine[lane] = value;
    for (int by = 8; by > 2; by /= 2) {
        __syncwarp(mask);
        if (lane < by) mine[lane] += mine[lane + by];
    }
    for (int by = 2; by > 0; by /= 2) {
        tile.sync();
        if (tile.thread_rank() < by) mine[lane] += mine[lane + by];
    }
    if (lane == 0) atomicAdd(output, mine[0]);
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + kThreads - 1) / kThreads;
    reduce_sum<<<blocks < 40 ? blocks : 40, kThreads>>>(input, output, n);
}
