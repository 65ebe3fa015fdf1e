// expect: race
// says: race on tiles
// line: 25
// The next tile is loaded as soon as the ticket is there: its barrier is gone, and the other warp may still read the last tile.
#include <cuda_runtime.h>

constexpr int kPairs = 4, kTile = 16, kRows = 4;

__global__ void transpose(const float* input, float* output, unsigned* next, int rows, int cols) {
    __shared__ float tiles[kPairs][kTile][kTile + 1];
    __shared__ unsigned tickets[kPairs];
    int pair = threadIdx.x / 64, thread = threadIdx.x % 64, x = thread % kTile, y = thread / kTile;
    auto meet = [=]() { asm volatile("bar.sync %0, 64;" ::"r"(1 + pair) : "memory"); };
    unsigned across = (cols + kTile - 1) / kTile, down = (rows + kTile - 1) / kTile;
    for (;;) {
        if (thread == 0) tickets[pair] = atomicAdd(next, 1u);
        meet();
        unsigned ticket = tickets[pair];
        if (ticket >= across * down) return;
        int left = ticket % across * kTile, top = ticket / across * kTile;
        for (int r = y; r < kTile; r += kRows) {
            if (top + r < rows && left + x < cols) tiles[pair][r][x] = input[static_cast<size_t>(top + r) * cols + left + x];
        }
        for (int r = y; r < kTile; r += kRows) {
            if (left + r < cols && top + x < rows) output[static_cast<size_t>(left + r) * rows + top + x] = tiles[pair][x][r];
        }
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    unsigned* next;
    cudaMalloc(&next, sizeof(unsigned));
    cudaMemset(next, 0, sizeof(unsigned));
    transpose<<<12, 64 * kPairs>>>(input, output, next, rows, cols);
    cudaFree(next);
}
