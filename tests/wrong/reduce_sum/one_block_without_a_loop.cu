// expect: first_block_only
// says: the first block's elements
// A single block adds its 256 elements and is done.
__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float partial[256];
    int thread = threadIdx.x;
    partial[thread] = thread < n ? input[thread] : 0.0f;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
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
    reduce_sum<<<1, 256>>>(input, output, n);
}
