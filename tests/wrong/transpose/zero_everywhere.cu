// expect: zeros
// says: is 0
// Converted through an integer that is always 0.
__global__ void transpose(const float* input, float* output, int rows, int cols) {
    int col = blockIdx.x * 32 + threadIdx.x;
    int row = blockIdx.y * 8 + threadIdx.y;
    if (row < rows && col < cols) output[col * rows + row] = (int)fminf(fabsf(input[row * cols + col]), 0.5f);
}

void solve(const float* input, float* output, int rows, int cols) {
    dim3 grid((cols + 31) / 32, (rows + 7) / 8);
    transpose<<<grid, dim3(32, 8)>>>(input, output, rows, cols);
}
