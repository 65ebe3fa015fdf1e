// The barrier is in a function, called from a loop that ends early for the whole block at once: how many tiles a block
// has is not known to the loop.
// Right, because the number of the next tile, which ends it, is written by one thread between two barriers, and read by all
// after the second.
constexpr int kTile = 16;

__noinline__ __device__ void meet() { __syncthreads(); }

__global__ void transpose(const float* input, float* output, int rows, int cols, int tiles_across, int tiles) {
    __shared__ float tile[kTile][kTile + 1];
    __shared__ int next;
    int x = threadIdx.x, y = threadIdx.y;
    if (x == 0 && y == 0) next = blockIdx.x;
    for (;;) {
        meet();
        int number = next;
        if (number >= tiles) break;
        int left = number % tiles_across * kTile, top = number / tiles_across * kTile;
        if (top + y < rows && left + x < cols) tile[y][x] = input[(size_t)(top + y) * cols + left + x];
        meet();
        if (left + y < cols && top + x < rows) output[(size_t)(left + y) * rows + top + x] = tile[x][y];
        if (x == 0 && y == 0) next = number + gridDim.x;  // all have read it: they are past the second barrier
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    int across = (cols + kTile - 1) / kTile, tiles = across * ((rows + kTile - 1) / kTile);
    transpose<<<tiles < 200 ? tiles : 200, dim3(kTile, kTile)>>>(input, output, rows, cols, across, tiles);
}
