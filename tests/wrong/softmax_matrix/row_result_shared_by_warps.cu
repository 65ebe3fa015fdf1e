// expect: race
// says: race
// line: 24
// Eight warps with a row each keep their maximum in the same word.
__device__ float warp_max(float value) {
    for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, step));
    return value;
}

__device__ float warp_sum(float value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

__global__ void softmax(const float* input, float* output, int rows, int cols) {
    __shared__ float largest;
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= rows) return;
    const float* x = input + (size_t)row * cols;
    float mine = -INFINITY;
    for (int col = lane; col < cols; col += 32) mine = fmaxf(mine, x[col]);
    mine = warp_max(mine);
    if (lane == 0) largest = mine;
    __syncwarp();
    float sum = 0.0f;
    for (int col = lane; col < cols; col += 32) sum += expf(x[col] - largest);
    sum = warp_sum(sum);
    for (int col = lane; col < cols; col += 32) output[(size_t)row * cols + col] = expf(x[col] - largest) / sum;
}

void solve(const float* input, float* output, int rows, int cols) {
    softmax<<<(rows + 7) / 8, 256>>>(input, output, rows, cols);
}
