// expect: out_of_bounds
// says: past the end
// line: 8
// The output's rows are taken to be as long as the input's.
__global__ void transpose(const float* input, float* output, int rows, int cols) {
    int col = blockIdx.x * 32 + threadIdx.x;
    int row = blockIdx.y * 8 + threadIdx.y;
    if (row < rows && col < cols) output[col * cols + row] = input[row * cols + col];
}

void solve(const float* input, float* output, int rows, int cols) {
    dim3 grid((cols + 31) / 32, (rows + 7) / 8);
    transpose<<<grid, dim3(32, 8)>>>(input, output, rows, cols);
}
