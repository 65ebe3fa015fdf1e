// expect: factor
// says: every element is
// The vector is padded to a multiple of 256 with 0 instead of -inf: the padding counts in the sum.
__global__ void softmax(const float* input, float* output, int n) {
    __shared__ float values[256];
    int padded = (n + 255) / 256 * 256;
    float max = -INFINITY;
    for (int i = threadIdx.x; i < padded; i += 256) {
        max = fmaxf(max, i < n ? input[i] : 0.0f);
    }
    values[threadIdx.x] = max;
    __syncthreads();
    for (int t = 0; t < 256; ++t) {
        max = fmaxf(max, values[t]);
    }
    __syncthreads();
    float sum = 0.0f;
    for (int i = threadIdx.x; i < padded; i += 256) {
        sum += expf((i < n ? input[i] : 0.0f) - max);
    }
    values[threadIdx.x] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int t = 0; t < 256; ++t) {
        sum += values[t];
    }
    for (int i = threadIdx.x; i < n; i += 256) {
        output[i] = expf(input[i] - max) / sum;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 256>>>(input, output, n);
}
