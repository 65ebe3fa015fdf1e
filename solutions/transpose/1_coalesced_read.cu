// Rung 1: Naive, coalesced read
//
// Thread i moves element i of the input: a warp reads 128 bytes in one piece.
// Still costs: its 32 writes go to 32 rows of the output, a 32-byte sector each for 4 useful bytes.
#include <cuda_runtime.h>

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    int row = i / cols;
    int col = i % cols;
    output[col * rows + row] = input[i];
}

void solve(const float* input, float* output, int rows, int cols) {
    int threads = 256;
    int blocks = (rows * cols + threads - 1) / threads;
    transpose<<<blocks, threads>>>(input, output, rows, cols);
}
