// expect: race
// says: race
// line: 13
// Blocks divide by a sum that other blocks still add to: __syncthreads() only holds one block.
__global__ void find_sum_and_normalise(const float* input, float* sum, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float e = i < n ? expf(input[i] - input[0]) : 0.0f;
    if (i < n) {
        atomicAdd(sum, e);
    }
    __syncthreads();
    if (i < n) {
        output[i] = e / *sum;
    }
}

void solve(const float* input, float* output, int n) {
    float* sum;
    cudaMalloc(&sum, sizeof(float));
    cudaMemset(sum, 0, sizeof(float));
    find_sum_and_normalise<<<(n + 255) / 256, 256>>>(input, sum, output, n);
    cudaFree(sum);
}
