// expect: tail
// says: sum without the last
// Sums of blocks of 1024, and one block that adds 1024 of them: all there are up to 1024 * 1024 elements.
__global__ void sum_of_a_block(const float* input, float* output, int n) {
    __shared__ float partial[1024];
    int thread = threadIdx.x;
    int i = blockIdx.x * 1024 + thread;
    partial[thread] = i < n ? input[i] : 0.0f;
    __syncthreads();
    for (int s = 512; s > 0; s /= 2) {
        if (thread < s) {
            partial[thread] += partial[thread + s];
        }
        __syncthreads();
    }
    if (thread == 0) {
        output[blockIdx.x] = partial[0];
    }
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 1023) / 1024;
    float* sums;
    cudaMalloc(&sums, blocks * sizeof(float));
    sum_of_a_block<<<blocks, 1024>>>(input, sums, n);
    sum_of_a_block<<<1, 1024>>>(sums, output, blocks);
    cudaFree(sums);
}
