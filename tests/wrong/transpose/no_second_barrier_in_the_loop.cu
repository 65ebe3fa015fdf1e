// expect: race
// says: race
// line: 10
// A fast warp fills the tile again while a slow one still reads it.
__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[32][33];
    for (int first = 0; first < cols; first += 32) {
        int row = blockIdx.x * 32 + threadIdx.y;
        int col = first + threadIdx.x;
        if (row < rows && col < cols) tile[threadIdx.y][threadIdx.x] = input[(size_t)row * cols + col];
        __syncthreads();
        int out_row = first + threadIdx.y;
        int out_col = blockIdx.x * 32 + threadIdx.x;
        if (out_row < cols && out_col < rows) output[(size_t)out_row * rows + out_col] = tile[threadIdx.x][threadIdx.y];
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    transpose<<<(rows + 31) / 32, dim3(32, 32)>>>(input, output, rows, cols);
}
