// expect: tail
// says: sum without the last
// The grid is rounded down, and one block at least: elements beyond the last full block are left.
__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float partial[256];
    int thread = threadIdx.x;
    int i = blockIdx.x * 256 + thread;
    partial[thread] = i < n ? input[i] : 0.0f;
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
    int grid = n / 256;
    reduce_sum<<<grid > 0 ? grid : 1, 256>>>(input, output, n);
}
