// expect: scattered
// says: wrong
// Every block divides by the sum of its own 256 elements.
__global__ void softmax(const float* input, float* output, int n) {
    __shared__ float values[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    values[threadIdx.x] = i < n ? input[i] : -INFINITY;
    __syncthreads();
    float max = -INFINITY;
    for (int t = 0; t < 256; ++t) {
        max = fmaxf(max, values[t]);
    }
    float sum = 0.0f;
    for (int t = 0; t < 256; ++t) {
        sum += max == -INFINITY ? 0.0f : expf(values[t] - max);
    }
    if (i < n) {
        output[i] = sum == 0.0f ? 0.0f : expf(input[i] - max) / sum;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<(n + 255) / 256, 256>>>(input, output, n);
}
