// expect: barrier
// says: wait at another on line 9
// line: 9
// A barrier in each branch: threads of one block wait at two different ones.
__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float partial[256];
    int thread = threadIdx.x;
    int i = blockIdx.x * 256 + thread;
    if (i < n) { partial[thread] = input[i]; __syncthreads(); } else { partial[thread] = 0.0f; __syncthreads(); }
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
