// expect: race | uninitialised
// says: total
// line: 30
// Thread 0 puts the maximum into shared memory, and the others read it at once.
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
    __shared__ float total;
    const float* x = input + (size_t)blockIdx.x * cols;
    float* y = output + (size_t)blockIdx.x * cols;
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    float largest = -INFINITY;
    for (int col = thread; col < cols; col += 256) largest = fmaxf(largest, x[col]);
    largest = warp_max(largest);
    if (lane == 0) partial[warp] = largest;
    __syncthreads();
    if (thread == 0) {
        for (int w = 1; w < 8; w++) largest = fmaxf(largest, partial[w]);
        total = largest;
    }
    largest = total;
    __syncthreads();
    float sum = 0.0f;
    for (int col = thread; col < cols; col += 256) sum += expf(x[col] - largest);
    sum = warp_sum(sum);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int w = 0; w < 8; w++) sum += partial[w];
    for (int col = thread; col < cols; col += 256) y[col] = expf(x[col] - largest) / sum;
}

void solve(const float* input, float* output, int rows, int cols) {
    softmax<<<rows, 256>>>(input, output, rows, cols);
}
