// expect: uninitialised
// says: nothing has written
// line: 16
// Threads without a column return, and the tree reads the words that they never filled.
__global__ void softmax(const float* input, float* output, int rows, int cols) {
    __shared__ float shared[256];
    const float* x = input + (size_t)blockIdx.x * cols;
    float* y = output + (size_t)blockIdx.x * cols;
    int thread = threadIdx.x;
    if (thread >= cols) return;
    float largest = -INFINITY;
    for (int col = thread; col < cols; col += 256) largest = fmaxf(largest, x[col]);
    shared[thread] = largest;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (thread < half) shared[thread] = fmaxf(shared[thread], shared[thread + half]);
        __syncthreads();
    }
    largest = shared[0];
    __syncthreads();
    float sum = 0.0f;
    for (int col = thread; col < cols; col += 256) sum += expf(x[col] - largest);
    shared[thread] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (thread < half) shared[thread] += shared[thread + half];
        __syncthreads();
    }
    for (int col = thread; col < cols; col += 256) y[col] = expf(x[col] - largest) / shared[0];
}

void solve(const float* input, float* output, int rows, int cols) {
    softmax<<<rows, 256>>>(input, output, rows, cols);
}
