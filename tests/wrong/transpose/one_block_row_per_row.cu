// expect: launch
// says: 65,535
// line: 13
// A grid as tall as the matrix: 70001 rows are more than gridDim.y can be.
__global__ void transpose(const float* input, float* output, int rows, int cols) {
    int col = blockIdx.x * 256 + threadIdx.x;
    int row = blockIdx.y;
    if (col < cols) output[col * rows + row] = input[row * cols + col];
}

void solve(const float* input, float* output, int rows, int cols) {
    dim3 grid((cols + 255) / 256, rows);
    transpose<<<grid, 256>>>(input, output, rows, cols);
}
