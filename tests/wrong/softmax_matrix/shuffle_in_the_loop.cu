// expect: missing_lanes
// says: mask
// line: 6
// Lanes leave the loop after different numbers of turns, and the shuffle in it names all 32.
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
    float largest = -INFINITY;
    for (int col = lane; col < cols; col += 32) largest = warp_max(fmaxf(largest, x[col]));
    largest = warp_max(largest);
    float sum = 0.0f;
    for (int col = lane; col < cols; col += 32) sum += expf(x[col] - largest);
    sum = warp_sum(sum);
    for (int col = lane; col < cols; col += 32) y[col] = expf(x[col] - largest) / sum;
}

void solve(const float* input, float* output, int rows, int cols) {
    softmax<<<(rows + 7) / 8, 256>>>(input, output, rows, cols);
}
