// Blocks walk down a column of tiles with two buffers, and one barrier a tile where one buffer would need two.
// Right, because a buffer is filled again only after the barrier of the next tile, which its readers reach when they
// are done.
constexpr int kTile = 32;

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tiles[2][kTile][kTile + 1];
    int left = blockIdx.x * kTile, x = threadIdx.x, number = 0;
    for (int top = blockIdx.y * kTile; top < rows; top += gridDim.y * kTile, number ^= 1) {
        for (int y = threadIdx.y; y < kTile; y += blockDim.y) {
            if (top + y < rows && left + x < cols) tiles[number][y][x] = input[(size_t)(top + y) * cols + left + x];
        }
        __syncthreads();
        for (int y = threadIdx.y; y < kTile; y += blockDim.y) {
            if (left + y < cols && top + x < rows) output[(size_t)(left + y) * rows + top + x] = tiles[number][x][y];
        }
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    int down = (rows + kTile - 1) / kTile;
    dim3 grid((cols + kTile - 1) / kTile, down < 64 ? down : 64);
    transpose<<<grid, dim3(kTile, 6)>>>(input, output, rows, cols);
}
