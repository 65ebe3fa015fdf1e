// expect: use_after_free
// says: after cudaFree
// line: 15
// The scratch memory goes back before the last kernel has read it.
__global__ void find_sum(const float* input, float* sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(sum, expf(input[i]));
    }
}

__global__ void normalise(const float* input, const float* sum, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        output[i] = expf(input[i]) / *sum;
    }
}

void solve(const float* input, float* output, int n) {
    int grid = (n + 255) / 256;
    float* sum;
    cudaMalloc(&sum, sizeof(float));
    cudaMemset(sum, 0, sizeof(float));
    find_sum<<<grid, 256>>>(input, sum, n);
    cudaFree(sum);
    normalise<<<grid, 256>>>(input, sum, output, n);
}
