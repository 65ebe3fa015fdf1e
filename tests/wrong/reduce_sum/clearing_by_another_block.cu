// expect: race
// says: race
// line: 11
// Block 0 clears the result while others add to it already.
__global__ void reduce_sum(const float* input, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        output[0] = 0.0f;
    }
    if (i < n) {
        atomicAdd(output, input[i]);
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n);
}
