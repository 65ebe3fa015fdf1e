// Rung 7: 64 x 64 tile of float4, blocks down the columns
//
// A thread reads a square of 4 x 4 as four float4, turns it in registers, and lays it into the tile as float4 again,
// swizzled by XOR as in rung 5: eight lanes at a time fill all banks. The tile's rows leave as float4 too, 256 bytes
// in one piece. blockIdx.x counts tiles down the input, so that blocks that run together write one stretch of the output.
// Removes: three of four loads, stores and shared memory accesses, and half of the pieces that memory has to deal with.
// Still costs: where rows or columns are not a multiple of 4, a row does not start on 16 bytes: such a matrix is
// moved one float at a time. And its rows start in the middle of a 32-byte sector, which two blocks then write in halves.
#include <cuda_runtime.h>

constexpr int kTile = 64;
constexpr int kQuads = kTile / 4;  // float4 in a row of the tile
constexpr int kThreads = kQuads * kQuads;

// Where quad q of the tile's row is kept.
__device__ int swizzled(int row, int q) { return q ^ (row / 4 % 8); }

__global__ void transpose_quads(const float* __restrict__ input, float* __restrict__ output, int rows, int cols) {
    __shared__ float4 tile[kTile][kQuads];  // row c holds column c of the input
    int top = blockIdx.x * kTile;
    int left = blockIdx.y * kTile;
    int x = threadIdx.x % kQuads;
    int y = threadIdx.x / kQuads;

    int row = top + 4 * y;
    int col = left + 4 * x;
    if (row < rows && col < cols) {
        float4 v[4];
#pragma unroll
        for (int i = 0; i < 4; i++) v[i] = *reinterpret_cast<const float4*>(input + (size_t)(row + i) * cols + col);
        tile[4 * x + 0][swizzled(4 * x, y)] = make_float4(v[0].x, v[1].x, v[2].x, v[3].x);
        tile[4 * x + 1][swizzled(4 * x, y)] = make_float4(v[0].y, v[1].y, v[2].y, v[3].y);
        tile[4 * x + 2][swizzled(4 * x, y)] = make_float4(v[0].z, v[1].z, v[2].z, v[3].z);
        tile[4 * x + 3][swizzled(4 * x, y)] = make_float4(v[0].w, v[1].w, v[2].w, v[3].w);
    }
    __syncthreads();

    int out_col = top + 4 * x;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int c = y + kQuads * i;
        if (left + c < cols && out_col < rows) {
            *reinterpret_cast<float4*>(output + (size_t)(left + c) * rows + out_col) = tile[c][swizzled(c, x)];
        }
    }
}

// Any shape, one float at a time: 64 rows by 32 columns, eight elements a thread.
__global__ void transpose_floats(const float* __restrict__ input, float* __restrict__ output, int rows, int cols) {
    __shared__ float tile[kTile][33];
    int top = blockIdx.x * kTile;
    int left = blockIdx.y * 32;
    int row = top + threadIdx.x / 32;
    int col = left + threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kTile; i += kThreads / 32) {
        if (row + i < rows && col < cols) tile[row + i - top][col - left] = input[(size_t)(row + i) * cols + col];
    }
    __syncthreads();

    int out_row = left + threadIdx.x / kTile;
    int out_col = top + threadIdx.x % kTile;
#pragma unroll
    for (int i = 0; i < 32; i += kThreads / kTile) {
        if (out_row + i < cols && out_col < rows) {
            output[(size_t)(out_row + i) * rows + out_col] = tile[out_col - top][out_row + i - left];
        }
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    int down = (rows + kTile - 1) / kTile;
    if (rows % 4 == 0 && cols % 4 == 0) {
        transpose_quads<<<dim3(down, (cols + kTile - 1) / kTile), kThreads>>>(input, output, rows, cols);
    } else {
        transpose_floats<<<dim3(down, (cols + 31) / 32), kThreads>>>(input, output, rows, cols);
    }
}
