// expect: race
// says: race
// line: 19
// The last warp goes on without barriers, as if its lanes moved in step.
__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ volatile float partial[256];
    int thread = threadIdx.x;
    int i = blockIdx.x * 256 + thread;
    partial[thread] = i < n ? input[i] : 0.0f;
    __syncthreads();
    for (int s = 128; s >= 32; s /= 2) {
        if (thread < s) {
            partial[thread] += partial[thread + s];
        }
        __syncthreads();
    }
    if (thread < 16) {
        partial[thread] += partial[thread + 16];
        partial[thread] += partial[thread + 8];
        partial[thread] += partial[thread + 4];
        partial[thread] += partial[thread + 2];
        partial[thread] += partial[thread + 1];
    }
    if (thread == 0) {
        atomicAdd(output, partial[0]);
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n);
}
