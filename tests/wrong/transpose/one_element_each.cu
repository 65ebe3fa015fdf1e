// expect: uninitialised
// says: tile
// line: 15
// 32 x 8 threads load an element each, where four are needed.
__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[32][33];
    int row = blockIdx.y * 32 + threadIdx.y;
    int col = blockIdx.x * 32 + threadIdx.x;
    if (row < rows && col < cols) tile[threadIdx.y][threadIdx.x] = input[(size_t)row * cols + col];
    __syncthreads();
    int out_row = blockIdx.x * 32 + threadIdx.y;
    int out_col = blockIdx.y * 32 + threadIdx.x;
    for (int step = 0; step < 32; step += 8) {
        if (out_row + step < cols && out_col < rows) {
            output[(size_t)(out_row + step) * rows + out_col] = tile[threadIdx.x][threadIdx.y + step];
        }
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    dim3 grid((cols + 31) / 32, (rows + 31) / 32);
    transpose<<<grid, dim3(32, 8)>>>(input, output, rows, cols);
}
