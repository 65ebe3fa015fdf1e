// expect: race
// says: different values
// line: 16
// Threads add to one word of shared memory without an atomic.
__global__ void softmax(const float* input, float* output, int n) {
    __shared__ float sum;
    if (threadIdx.x == 0) {
        sum = 0.0f;
    }
    __syncthreads();
    float max = -INFINITY;
    for (int i = 0; i < n; ++i) {
        max = fmaxf(max, input[i]);
    }
    for (int i = threadIdx.x; i < n; i += 256) {
        sum += expf(input[i] - max);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 256) {
        output[i] = expf(input[i] - max) / sum;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 256>>>(input, output, n);
}
