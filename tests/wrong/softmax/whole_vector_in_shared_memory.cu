// expect: launch
// says: shared
// line: 31
// Fine up to 12,288 elements.
__global__ void softmax(const float* input, float* output, int n) {
    extern __shared__ float values[];
    for (int i = threadIdx.x; i < n; i += 32) {
        values[i] = input[i];
    }
    __syncwarp();
    float max = -INFINITY;
    for (int i = threadIdx.x; i < n; i += 32) {
        max = fmaxf(max, values[i]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, offset));
    }
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) {
        sum += expf(values[i] - max);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    }
    for (int i = threadIdx.x; i < n; i += 32) {
        output[i] = expf(values[i] - max) / sum;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 32, n * sizeof(float)>>>(input, output, n);
}
