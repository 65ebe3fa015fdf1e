// expect: never_written
// says: never
// The tile is filled and nothing is done with it.
__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[32][33];
    int row = blockIdx.y * 32 + threadIdx.y;
    int col = blockIdx.x * 32 + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = row >= rows || col >= cols ? 0.0f : input[(size_t)row * cols + col];
    __syncthreads();
    int out_row = blockIdx.x * 32 + threadIdx.y;
    int out_col = blockIdx.y * 32 + threadIdx.x;
    if (tile[threadIdx.x % 32][0] == 12345.5f && out_row < 0) output[out_col] = 0.0f;
}

void solve(const float* input, float* output, int rows, int cols) {
    dim3 grid((cols + 31) / 32, (rows + 31) / 32);
    transpose<<<grid, dim3(32, 32)>>>(input, output, rows, cols);
}
