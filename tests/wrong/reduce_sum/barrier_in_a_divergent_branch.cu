// expect: barrier
// says: __syncthreads() on line 14 while
// line: 14
// The barrier is inside the `if`: threads that have no more to add wait at the other one.
__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float partial[256];
    int thread = threadIdx.x;
    int i = blockIdx.x * 256 + thread;
    partial[thread] = i < n ? input[i] : 0.0f;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (thread < s) {
            partial[thread] += partial[thread + s];
            __syncthreads();
        }
    }
    __syncthreads();
    if (thread == 0) {
        atomicAdd(output, partial[0]);
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n);
}
