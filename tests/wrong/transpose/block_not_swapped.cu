// expect: uninitialised
// says: tile
// line: 13
// Each tile is turned, but written to the place where it came from.
__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[32][33];
    int row = blockIdx.y * 32 + threadIdx.y;
    int col = blockIdx.x * 32 + threadIdx.x;
    if (row < rows && col < cols) tile[threadIdx.y][threadIdx.x] = input[(size_t)row * cols + col];
    __syncthreads();
    int out_row = blockIdx.y * 32 + threadIdx.y;
    int out_col = blockIdx.x * 32 + threadIdx.x;
    if (out_row < cols && out_col < rows) output[(size_t)out_row * rows + out_col] = tile[threadIdx.x][threadIdx.y];
}

void solve(const float* input, float* output, int rows, int cols) {
    dim3 grid((cols + 31) / 32, (rows + 31) / 32);
    transpose<<<grid, dim3(32, 32)>>>(input, output, rows, cols);
}
