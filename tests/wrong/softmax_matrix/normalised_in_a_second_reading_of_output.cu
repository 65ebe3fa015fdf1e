// expect: race
// says: race
// line: 17
// Every warp divides columns that another warp has written, with no barrier between.
__global__ void softmax(const float* input, float* output, int rows, int cols) {
    __shared__ float shared[256];
    const float* x = input + (size_t)blockIdx.x * cols;
    float* y = output + (size_t)blockIdx.x * cols;
    float largest = -INFINITY, sum = 0.0f;
    for (int col = 0; col < cols; col++) largest = fmaxf(largest, x[col]);
    for (int col = threadIdx.x; col < cols; col += 256) sum += y[col] = expf(x[col] - largest);
    shared[threadIdx.x] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int t = 0; t < 256; t++) sum += shared[t];
    for (int col = threadIdx.x; col < cols; col += 256) y[col] /= sum;
    for (int col = 255 - threadIdx.x; col < cols; col += 256) y[col] = fminf(y[col], 1.0f);
}

void solve(const float* input, float* output, int rows, int cols) {
    softmax<<<rows, 256>>>(input, output, rows, cols);
}
