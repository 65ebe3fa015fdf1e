// Rung 5: One warp per row, online, with cooperative groups
//
// Maximum and sum come from one trip: when a larger value turns up, the sum so far is scaled by exp(old - new). A lane
// takes eight columns at a time, so it scales once for eight and has eight loads in flight. The lanes' pairs (m, d)
// are merged by `cg::reduce`: first all the m, then the d scaled to the common maximum.
// `__expf` is one multiplication and the hardware's own 2^x: a few bits less exact than `expf`, which the bound allows.
// Removes: one of the three trips over the row, and most of the instructions of `expf`.
// Still costs: 4 bytes a load, two reads of the row.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <cmath>

namespace cg = cooperative_groups;

constexpr int kThreads = 256;
constexpr int kChunk = 8;

__global__ void softmax_rows(const float* __restrict__ input, float* __restrict__ output, int rows, int cols) {
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row >= rows) return;  // the whole warp leaves together
    const float* x = input + (size_t)row * cols;
    float* y = output + (size_t)row * cols;
    int lane = warp.thread_rank();

    float m = -INFINITY;  // the largest value so far
    float d = 0.0f;       // sum of exp(x - m) so far
    for (int first = lane; first < cols; first += 32 * kChunk) {
        float value[kChunk];
        float new_m = m;
#pragma unroll
        for (int i = 0; i < kChunk; i++) {
            int col = first + 32 * i;
            value[i] = col < cols ? x[col] : -INFINITY;
            new_m = fmaxf(new_m, value[i]);
        }
        if (new_m == -INFINITY) continue;  // nothing but a mask so far, and (-inf) - (-inf) would be NaN
        d *= __expf(m - new_m);            // the first time m is -inf, and d stays 0
        m = new_m;
#pragma unroll
        for (int i = 0; i < kChunk; i++) d += __expf(value[i] - m);
    }
    float largest = cg::reduce(warp, m, cg::greater<float>());
    float sum = cg::reduce(warp, d * __expf(m - largest), cg::plus<float>());  // a lane that saw nothing adds 0 * 0
    float scale = 1.0f / sum;

#pragma unroll 8
    for (int col = lane; col < cols; col += 32) y[col] = __expf(x[col] - largest) * scale;
}

void solve(const float* input, float* output, int rows, int cols) {
    int rows_per_block = kThreads / 32;
    softmax_rows<<<(rows + rows_per_block - 1) / rows_per_block, kThreads>>>(input, output, rows, cols);
}
