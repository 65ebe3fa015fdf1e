// expect: input_changed
// says: input
// The exponentials are kept where the input was, to be computed only once.
__global__ void softmax(float* input, float* output, int n) {
    float max = -INFINITY;
    for (int i = threadIdx.x; i < n; i += 32) {
        max = fmaxf(max, input[i]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, offset));
    }
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) {
        input[i] = expf(input[i] - max);
        sum += input[i];
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    }
    for (int i = threadIdx.x; i < n; i += 32) {
        output[i] = input[i] / sum;
    }
}

void solve(float* input, float* output, int n) {
    softmax<<<1, 32>>>(input, output, n);
}
