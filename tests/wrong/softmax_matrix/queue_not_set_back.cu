// expect: second_call
// says: second
// Rows are handed out by a counter that only starts from 0 once.
__device__ float warp_max(float value) {
    for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, step));
    return value;
}

__device__ float warp_sum(float value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

__device__ int next_row;

__global__ void softmax(const float* input, float* output, int rows, int cols) {
    int lane = threadIdx.x;
    while (true) {
        int row = lane == 0 ? atomicAdd(&next_row, 1) : 0;
        row = __shfl_sync(0xffffffff, row, 0);
        if (row >= rows) return;
        const float* x = input + (size_t)row * cols;
        float largest = -INFINITY;
        for (int col = lane; col < cols; col += 32) largest = fmaxf(largest, x[col]);
        largest = warp_max(largest);
        float sum = 0.0f;
        for (int col = lane; col < cols; col += 32) sum += expf(x[col] - largest);
        sum = warp_sum(sum);
        for (int col = lane; col < cols; col += 32) output[(size_t)row * cols + col] = expf(x[col] - largest) / sum;
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    softmax<<<64, 32>>>(input, output, rows, cols);
}
