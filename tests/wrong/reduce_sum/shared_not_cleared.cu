// expect: uninitialised
// says: which nothing has written
// line: 15
// Threads beyond n leave their word of shared memory as it was.
__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float partial[256];
    int thread = threadIdx.x;
    int i = blockIdx.x * 256 + thread;
    if (i < n) {
        partial[thread] = input[i];
    }
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (thread < s) {
            partial[thread] += partial[thread + s];
        }
        __syncthreads();
    }
    if (thread == 0) {
        atomicAdd(output, partial[0]);
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n);
}
