// expect: tail
// says: never written
// The grid's two numbers have changed places: right for square matrices only.
__global__ void transpose(const float* input, float* output, int rows, int cols) {
    int col = blockIdx.x * 32 + threadIdx.x;
    int row = blockIdx.y * 8 + threadIdx.y;
    if (row < rows && col < cols) output[col * rows + row] = input[row * cols + col];
}

void solve(const float* input, float* output, int rows, int cols) {
    dim3 grid((rows + 31) / 32, (cols + 7) / 8);
    transpose<<<grid, dim3(32, 8)>>>(input, output, rows, cols);
}
