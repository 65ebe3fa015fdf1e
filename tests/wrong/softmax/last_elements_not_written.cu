// expect: tail
// says: never written
// The result is written four at a time; the last n % 4 are left out.
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
    for (int i = 4 * threadIdx.x; i + 3 < n; i += 128) {
        for (int k = i; k < i + 4; ++k) {
            output[k] = expf(input[k] - max) / sum;
        }
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 32>>>(input, output, n);
}
