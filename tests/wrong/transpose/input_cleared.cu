// expect: input_changed
// says: input
// Elements are moved, not copied: 0 is left behind.
__global__ void transpose(const float* input, float* output, int rows, int cols) {
    int col = blockIdx.x * 32 + threadIdx.x;
    int row = blockIdx.y * 8 + threadIdx.y;
    if (row >= rows || col >= cols) return;
    output[col * rows + row] = input[row * cols + col];
    const_cast<float*>(input)[row * cols + col] = 0.0f;
}

void solve(const float* input, float* output, int rows, int cols) {
    dim3 grid((cols + 31) / 32, (rows + 7) / 8);
    transpose<<<grid, dim3(32, 8)>>>(input, output, rows, cols);
}
