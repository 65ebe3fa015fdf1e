// expect: nan
// says: NaN
// -1e9 for the lowest float: when all values lie far below it, every exponential is 0, and 0 / 0 is NaN.
__device__ float warp_max(float value) {
    for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, step));
    return value;
}

__device__ float warp_sum(float value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

__global__ void softmax(const float* input, float* output, int rows, int cols) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= rows) return;
    const float* x = input + (size_t)row * cols;
    float* y = output + (size_t)row * cols;
    float largest = -1e9f;
    for (int col = lane; col < cols; col += 32) largest = fmaxf(largest, x[col]);
    largest = warp_max(largest);
    float sum = 0.0f;
    for (int col = lane; col < cols; col += 32) sum += expf(x[col] - largest);
    sum = warp_sum(sum);
    for (int col = lane; col < cols; col += 32) y[col] = expf(x[col] - largest) / sum;
}

void solve(const float* input, float* output, int rows, int cols) {
    softmax<<<(rows + 7) / 8, 256>>>(input, output, rows, cols);
}
