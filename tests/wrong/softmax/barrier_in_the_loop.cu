// expect: barrier
// says: __syncthreads() on line 18 while
// line: 18
// Threads run the loop a different number of times, and there is a barrier in it.
__global__ void softmax(const float* input, float* output, int n) {
    __shared__ float max;
    __shared__ float sum;
    if (threadIdx.x == 0) {
        max = input[0];
        sum = 0.0f;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 256) {
        for (int turn = 0; turn < 256; ++turn) {
            if (turn == threadIdx.x) {
                max = fmaxf(max, input[i]);
            }
            __syncthreads();
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 256) {
        atomicAdd(&sum, expf(input[i] - max));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 256) {
        output[i] = expf(input[i] - max) / sum;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 256>>>(input, output, n);
}
