// Warps whose rows of the tile lie outside the matrix return, and the others meet at a barrier counted for those that
// stay.
// Right, because how many stay is computed from the tile's height, the same in every warp, and each stays or leaves as
// one.
constexpr int kTile = 32, kWarps = 8;

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[kTile][kTile + 1];
    int left = blockIdx.x * kTile, top = blockIdx.y * kTile, lane = threadIdx.x, warp = threadIdx.y;
    int height = min(kTile, rows - top), width = min(kTile, cols - left);
    int staying = min(kWarps, height);
    if (warp >= staying) return;
    for (int y = warp; y < height; y += staying) {
        if (lane < width) tile[y][lane] = input[(size_t)(top + y) * cols + left + lane];
    }
    asm volatile("bar.sync 1, %0;" ::"r"(32 * staying) : "memory");
    for (int x = warp; x < width; x += staying) {
        if (lane < height) output[(size_t)(left + x) * rows + top + lane] = tile[lane][x];
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
    transpose<<<grid, dim3(32, kWarps)>>>(input, output, rows, cols);
}
