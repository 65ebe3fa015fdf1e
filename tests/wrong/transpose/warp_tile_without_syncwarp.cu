// expect: race
// says: race
// line: 16
// One warp per tile, lane by lane: the lanes are taken to be in lockstep.
__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[32][33];
    int lane = threadIdx.x;
    int first_row = blockIdx.y * 32;
    int first_col = blockIdx.x * 32;
    for (int i = 0; i < 32; i++) {
        int row = first_row + i, col = first_col + lane;
        if (row < rows && col < cols) tile[i][lane] = input[(size_t)row * cols + col];
    }
    for (int i = 0; i < 32; i++) {
        if (first_col + i < cols && first_row + lane < rows) {
            output[(size_t)(first_col + i) * rows + first_row + lane] = tile[lane][i];
        }
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    dim3 grid((cols + 31) / 32, (rows + 31) / 32);
    transpose<<<grid, 32>>>(input, output, rows, cols);
}
