// expect: factor
// says: every element is
// The exponentials, without their sum.
__global__ void softmax(const float* input, float* output, int n) {
    float max = -INFINITY;
    for (int i = threadIdx.x; i < n; i += 32) {
        max = fmaxf(max, input[i]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, offset));
    }
    for (int i = threadIdx.x; i < n; i += 32) {
        output[i] = expf(input[i] - max);
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 32>>>(input, output, n);
}
