// expect: race
// says: race
// line: 22
// One warp passes the sum through shared memory and trusts that its lanes move in step.
__global__ void softmax(const float* input, float* output, int n) {
    __shared__ float sums[32];
    int lane = threadIdx.x;
    float max = -INFINITY;
    for (int i = lane; i < n; i += 32) {
        max = fmaxf(max, input[i]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, offset));
    }
    float sum = 0.0f;
    for (int i = lane; i < n; i += 32) {
        sum += expf(input[i] - max);
    }
    sums[lane] = sum;
    sum = 0.0f;
    for (int other = 0; other < 32; ++other) {
        sum += sums[other];
    }
    for (int i = lane; i < n; i += 32) {
        output[i] = expf(input[i] - max) / sum;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 32>>>(input, output, n);
}
