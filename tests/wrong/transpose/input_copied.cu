// expect: copied_input | transposed
// says: input
// Nothing is turned.
__global__ void transpose(const float* input, float* output, int rows, int cols) {
    int col = blockIdx.x * 32 + threadIdx.x;
    int row = blockIdx.y * 8 + threadIdx.y;
    if (row < rows && col < cols) output[row * cols + col] = input[row * cols + col];
}

void solve(const float* input, float* output, int rows, int cols) {
    dim3 grid((cols + 31) / 32, (rows + 7) / 8);
    transpose<<<grid, dim3(32, 8)>>>(input, output, rows, cols);
}
