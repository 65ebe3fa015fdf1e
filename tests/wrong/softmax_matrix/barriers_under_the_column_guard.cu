// expect: barrier
// says: lanes of warp
// line: 12
// The barriers stand under the guard of the columns: the other lanes of the last warp go straight on to the next row.
__global__ void softmax(const float* input, float* output, int rows, int cols) {
    __shared__ float exponentials[1024];
    int col = threadIdx.x;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* x = input + (size_t)row * cols;
        if (col < cols) {
            exponentials[col] = x[col];
            __syncthreads();
            float largest = -INFINITY, sum = 0.0f;
            for (int c = 0; c < cols; ++c) largest = fmaxf(largest, exponentials[c]);
            for (int c = 0; c < cols; ++c) sum += expf(exponentials[c] - largest);
            output[(size_t)row * cols + col] = expf(exponentials[col] - largest) / sum;
            __syncthreads();
        }
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    softmax<<<rows < 256 ? rows : 256, 1024>>>(input, output, rows, cols);
}
