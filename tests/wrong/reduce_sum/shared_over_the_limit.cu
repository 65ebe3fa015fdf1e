// expect: launch
// says: shared
// line: 26
// 64 KiB of dynamic shared memory, and no cudaFuncSetAttribute to allow it.
__global__ void reduce_sum(const float* input, float* output, int n) {
    extern __shared__ float partial[];
    int thread = threadIdx.x;
    float value = 0.0f;
    for (int i = thread; i < n; i += blockDim.x) {
        value += input[i];
    }
    partial[thread] = value;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (thread < s) {
            partial[thread] += partial[thread + s];
        }
        __syncthreads();
    }
    if (thread == 0) {
        output[0] = partial[0];
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<1, 1024, 64 * 1024>>>(input, output, n);
}
