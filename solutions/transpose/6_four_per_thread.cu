// Rung 6: 32 x 8 threads, four elements each
//
// A block of 256 threads moves the same padded tile, every thread four elements: four loads in flight a thread, and
// the index arithmetic is paid once for four.
// Removes: the big blocks; more blocks fit on an SM, and one's reads overlap another's writes.
// Still costs: 4 bytes an access. A block writes pieces of 128 bytes, and the next block, one tile to the right, writes
// 32 other rows: each piece is far from the last.
#include <cuda_runtime.h>

constexpr int kTile = 32;
constexpr int kBlockRows = 8;

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[kTile][kTile + 1];
    int row = blockIdx.y * kTile + threadIdx.y;
    int col = blockIdx.x * kTile + threadIdx.x;
#pragma unroll
    for (int step = 0; step < kTile; step += kBlockRows) {
        if (row + step < rows && col < cols) {
            tile[threadIdx.x][threadIdx.y + step] = input[(size_t)(row + step) * cols + col];
        }
    }
    __syncthreads();

    // The same tile, now with threadIdx.x along the output's rows.
    int out_row = blockIdx.x * kTile + threadIdx.y;
    int out_col = blockIdx.y * kTile + threadIdx.x;
#pragma unroll
    for (int step = 0; step < kTile; step += kBlockRows) {
        if (out_row + step < cols && out_col < rows) {
            output[(size_t)(out_row + step) * rows + out_col] = tile[threadIdx.y + step][threadIdx.x];
        }
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    dim3 block(kTile, kBlockRows);
    dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
    transpose<<<grid, block>>>(input, output, rows, cols);
}
