// expect: missing_lanes
// says: which has exited
// line: 14
// Threads beyond n leave; the full mask of the shuffle still names them.
__global__ void softmax(const float* input, float* output, int n) {
    if (threadIdx.x >= n) {
        return;
    }
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
    for (int i = threadIdx.x; i < n; i += 32) {
        output[i] = expf(input[i] - max) / sum;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 32>>>(input, output, n);
}
