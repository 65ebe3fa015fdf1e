// expect: factor
// says: times what is expected
// The mean, not the sum.
__global__ void reduce_sum(const float* input, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(output, input[i]);
    }
}

__global__ void divide(float* output, int n) {
    output[0] /= n;
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n);
    divide<<<1, 1>>>(output, n);
}
