// expect: nan
// says: NaN
// Idle threads are guarded; a thread that has seen nothing but -inf is not.
__global__ void softmax(const float* input, float* output, int n) {
    __shared__ float maxima[32];
    __shared__ float sums[32];
    float max = -INFINITY;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) {
        float larger = fmaxf(max, input[i]);
        sum = (sum == 0.0f ? 0.0f : sum * expf(max - larger)) + expf(input[i] - larger);
        max = larger;
    }
    maxima[threadIdx.x] = max;
    sums[threadIdx.x] = sum;
    __syncthreads();
    max = -INFINITY;
    for (int t = 0; t < 32; ++t) {
        max = fmaxf(max, maxima[t]);
    }
    sum = 0.0f;
    for (int t = 0; t < 32; ++t) {
        sum += sums[t] == 0.0f ? 0.0f : sums[t] * expf(maxima[t] - max);
    }
    for (int i = threadIdx.x; i < n; i += 32) {
        output[i] = expf(input[i] - max) / sum;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 32>>>(input, output, n);
}
