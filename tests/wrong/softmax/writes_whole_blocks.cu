// expect: out_of_bounds
// says: past the end of output
// line: 23
// The last loop runs to the next multiple of 32.
__global__ void softmax(const float* input, float* output, int n) {
    float max = -INFINITY;
    for (int i = threadIdx.x; i < n; i += 32) {
        max = fmaxf(max, input[i]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, offset));
    }
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) {
        sum += expf(input[i] - max);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    }
    for (int start = 0; start < n; start += 32) {
        int i = start + threadIdx.x;
        float p = i < n ? expf(input[i] - max) / sum : 0.0f;
        output[i] = p;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 32>>>(input, output, n);
}
