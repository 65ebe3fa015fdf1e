// expect: nan
// says: NaN
// Threads beyond n hold (-inf, 0): merging two of them computes (-inf) - (-inf).
__global__ void softmax(const float* input, float* output, int n) {
    __shared__ float maxima[32];
    __shared__ float sums[32];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    float max = -INFINITY;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 1024) {
        float larger = fmaxf(max, input[i]);
        sum = sum * expf(max - larger) + expf(input[i] - larger);
        max = larger;
    }
    for (int round = 0; round < 2; ++round) {
        for (int offset = 16; offset > 0; offset /= 2) {
            float other_max = __shfl_xor_sync(0xffffffffu, max, offset);
            float other_sum = __shfl_xor_sync(0xffffffffu, sum, offset);
            float larger = fmaxf(max, other_max);
            sum = sum * expf(max - larger) + other_sum * expf(other_max - larger);
            max = larger;
        }
        if (round == 0) {
            if (lane == 0) {
                maxima[warp] = max;
                sums[warp] = sum;
            }
            __syncthreads();
            max = maxima[lane];
            sum = sums[lane];
        }
    }
    for (int i = threadIdx.x; i < n; i += 1024) {
        output[i] = expf(input[i] - max) / sum;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 1024>>>(input, output, n);
}
