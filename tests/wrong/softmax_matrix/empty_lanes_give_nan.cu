// expect: nan
// says: NaN
// A lane without a column holds (-inf, 0): merging two of them computes (-inf) - (-inf).
__global__ void softmax(const float* input, float* output, int rows, int cols) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= rows) return;
    const float* x = input + (size_t)row * cols;
    float m = -INFINITY, d = 0.0f;
    for (int col = lane; col < cols; col += 32) {
        float new_m = fmaxf(m, x[col]);
        d = d * expf(m - new_m) + expf(x[col] - new_m);
        m = new_m;
    }
    for (int step = 16; step > 0; step /= 2) {
        float other_m = __shfl_xor_sync(0xffffffff, m, step);
        float other_d = __shfl_xor_sync(0xffffffff, d, step);
        float new_m = fmaxf(m, other_m);
        d = d * expf(m - new_m) + other_d * expf(other_m - new_m);
        m = new_m;
    }
    for (int col = lane; col < cols; col += 32) output[(size_t)row * cols + col] = expf(x[col] - m) / d;
}

void solve(const float* input, float* output, int rows, int cols) {
    softmax<<<(rows + 7) / 8, 256>>>(input, output, rows, cols);
}
