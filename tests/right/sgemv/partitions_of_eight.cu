// Eight lanes share a row, as a tiled partition of cooperative groups; rows beyond the last are left by whole
// partitions, in the middle of a warp.
// Right, because a partition's shuffles name its own eight lanes, and the lanes that write form a coalesced group that
// nobody else is in.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void sgemv(const float* A, const float* x, float* y, int M, int K) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
    if (row >= M) return;
    float sum = 0.0f;
    for (int k = tile.thread_rank(); k < K; k += tile.size()) sum += A[static_cast<size_t>(row) * K + k] * x[k];
    sum = cg::reduce(tile, sum, cg::plus<float>());
    if (tile.thread_rank() == 0) {
        cg::coalesced_group writers = cg::coalesced_threads();
        writers.sync();
        if (writers.thread_rank() < writers.size()) y[row] = sum;
    }
}

void solve(const float* A, const float* x, float* y, int M, int K) {
    sgemv<<<(M + 15) / 16, 128>>>(A, x, y, M, K);
}
