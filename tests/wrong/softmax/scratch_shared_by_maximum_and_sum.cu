// expect: race
// says: race
// line: 32
// Warps that have read the maximum store their sums over maxima that others still read.
__global__ void softmax(const float* input, float* output, int n) {
    __shared__ float scratch[32];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    float max = -INFINITY;
    for (int i = threadIdx.x; i < n; i += 1024) {
        max = fmaxf(max, input[i]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, offset));
    }
    if (lane == 0) {
        scratch[warp] = max;
    }
    __syncthreads();
    max = scratch[lane];
    for (int offset = 16; offset > 0; offset /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, offset));
    }
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 1024) {
        sum += expf(input[i] - max);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    }
    if (lane == 0) {
        scratch[warp] = sum;
    }
    __syncthreads();
    sum = scratch[lane];
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    }
    for (int i = threadIdx.x; i < n; i += 1024) {
        output[i] = expf(input[i] - max) / sum;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 1024>>>(input, output, n);
}
