// Blocks in odd columns of the grid run another branch than those in even ones, and each branch has barriers of its own.
// Right, because a block as a whole takes one of them: a barrier is of a block, and knows nothing of others.
constexpr int kTile = 32;

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[kTile][kTile + 1];
    int left = blockIdx.x * kTile, top = blockIdx.y * kTile, x = threadIdx.x;
    if (blockIdx.x % 2 == 0) {
        for (int y = threadIdx.y; y < kTile; y += blockDim.y) {
            if (top + y < rows && left + x < cols) tile[y][x] = input[(size_t)(top + y) * cols + left + x];
        }
        __syncthreads();
        for (int y = threadIdx.y; y < kTile; y += blockDim.y) {
            if (left + y < cols && top + x < rows) output[(size_t)(left + y) * rows + top + x] = tile[x][y];
        }
    } else {
        for (int start = 0; start < kTile; start += blockDim.y) {  // a few rows at a time, all in the first ones of the tile
            int y = start + threadIdx.y;
            if (top + y < rows && left + x < cols) tile[threadIdx.y][x] = input[(size_t)(top + y) * cols + left + x];
            __syncthreads();
            int row = top + start + x % blockDim.y, col = left + threadIdx.y * (kTile / blockDim.y) + x / blockDim.y;
            if (row < rows && col < cols) output[(size_t)col * rows + row] = tile[x % blockDim.y][col - left];
            __syncthreads();
        }
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    transpose<<<dim3((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile), dim3(kTile, 8)>>>(input, output, rows, cols);
}
