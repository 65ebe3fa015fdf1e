// Cooperative groups: tiles of 8 lanes reduce, tiles of 16 put two of those together, and one of 32 the last two.
// Right, because every lane belongs to one tile of each size, and each tile waits for its own lanes only.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void reduce_sum(const float* input, float* output, int n) {
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto half = cg::tiled_partition<16>(warp);
    auto eighth = cg::tiled_partition<8>(half);
    float value = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += input[i];
    value = cg::reduce(eighth, value, cg::plus<float>());
    value += half.shfl_xor(value, 8);
    value = cg::reduce(warp, half.thread_rank() == 0 ? value : 0.0f, cg::plus<float>());
    __shared__ float sums[32];
    if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = value;
    block.sync();
    if (block.thread_rank() == 0) {
        for (unsigned rank = 1; rank < warp.meta_group_size(); ++rank) value += sums[rank];
        atomicAdd(output, value);
    }
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 191) / 192;
    reduce_sum<<<blocks < 90 ? blocks : 90, 192>>>(input, output, n);
}
