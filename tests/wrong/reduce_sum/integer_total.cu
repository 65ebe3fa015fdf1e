// expect: scattered | zeros | never_written
// says: is
// The partial sums are kept in int: fractions are cut off.
__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ int partial;
    if (threadIdx.x == 0) {
        partial = 0;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&partial, input[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(output, partial);
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n);
}
