// expect: race
// says: race
// line: 29
// A fast warp stores its sum where a slow one still reads a maximum.
__device__ float warp_max(float value) {
    for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, step));
    return value;
}

__device__ float warp_sum(float value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

__global__ void softmax(const float* input, float* output, int rows, int cols) {
    __shared__ float partial[8];
    const float* x = input + (size_t)blockIdx.x * cols;
    float* y = output + (size_t)blockIdx.x * cols;
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    float largest = -INFINITY;
    for (int col = thread; col < cols; col += 256) largest = fmaxf(largest, x[col]);
    largest = warp_max(largest);
    if (lane == 0) partial[warp] = largest;
    __syncthreads();
    largest = warp_max(partial[lane % 8]);
    float sum = 0.0f;
    for (int col = thread; col < cols; col += 256) sum += expf(x[col] - largest);
    sum = warp_sum(sum);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    sum = warp_sum(lane < 8 ? partial[lane] : 0.0f);
    for (int col = thread; col < cols; col += 256) y[col] = expf(x[col] - largest) / sum;
}

void solve(const float* input, float* output, int rows, int cols) {
    softmax<<<rows, 256>>>(input, output, rows, cols);
}
