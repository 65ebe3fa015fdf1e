// Cooperative groups copy a row to shared memory asynchronously, in pieces, while the block works on the piece before.
// Right, because cg::wait waits for the copies and meets the group, and a sync ends the use of a buffer before it is
// filled again.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;
constexpr int kPiece = 256;

struct Running {
    float highest, sum;
};

__device__ void take(Running& running, float x) {
    float highest = fmaxf(running.highest, x);
    if (highest == -INFINITY) return;
    running.sum = running.sum * expf(running.highest - highest) + expf(x - highest);
    running.highest = highest;
}

__global__ void softmax(const float* input, float* output, int rows, int cols) {
    __shared__ float pieces[2][kPiece];
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    const float* from = input + static_cast<size_t>(blockIdx.x) * cols;
    auto fetch = [&](int piece) {
        int count = min(kPiece, cols - piece * kPiece);
        if (count > 0) cg::memcpy_async(block, pieces[piece % 2], from + piece * kPiece, sizeof(float) * count);
    };
    Running running = {-INFINITY, 0.0f};
    int count = (cols + kPiece - 1) / kPiece;
    fetch(0);
    for (int piece = 0; piece < count; ++piece) {
        fetch(piece + 1);
        if (piece + 1 < count) {
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        for (int c = min(kPiece, cols - piece * kPiece) - 1 - int(block.thread_rank()); c >= 0; c -= block.size()) {
            take(running, pieces[piece % 2][c]);  // from the end, so that another thread has copied it
        }
        block.sync();
    }
    float highest = cg::reduce(warp, running.highest, cg::greater<float>());
    float sum = running.highest == -INFINITY ? 0.0f : running.sum * expf(running.highest - highest);
    sum = cg::reduce(warp, sum, cg::plus<float>());
    for (int c = block.thread_rank(); c < cols; c += block.size()) {
        output[static_cast<size_t>(blockIdx.x) * cols + c] = expf(from[c] - highest) / sum;
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    softmax<<<rows, 32>>>(input, output, rows, cols);
}
