// expect: uninitialised
// says: before it has a value
// line: 10
// The maximum of a row starts as whatever its register holds; a row of smaller numbers never gets its own.
__global__ void softmax(const float* input, float* output, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* from = input + (size_t)row * cols;
    float highest, sum = 0.0f;
    for (int c = 0; c < cols; ++c) highest = fmaxf(highest, from[c]);
    for (int c = 0; c < cols; ++c) sum += expf(from[c] - highest);
    for (int c = 0; c < cols; ++c) output[(size_t)row * cols + c] = expf(from[c] - highest) / sum;
}

void solve(const float* input, float* output, int rows, int cols) {
    softmax<<<(rows + 63) / 64, 64>>>(input, output, rows, cols);
}
