// expect: race
// says: race on sums
// line: 26
// A volatile flag in shared memory says that the sum is there; without a fence it may be seen before the sum.
constexpr int kWarps = 8;

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float sums[kWarps];
    __shared__ volatile int ready[kWarps];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) ready[warp] = 0;
    __syncthreads();
    float value = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += input[i];
    for (int by = 16; by > 0; by /= 2) value += __shfl_down_sync(0xffffffffu, value, by);
    if (lane != 0) return;
    if (warp > 0) {
        sums[warp] = value;
        ready[warp] = 1;
        return;
    }
    for (int other = 1; other < kWarps; ++other) {
        while (ready[other] == 0) {
        }
        __threadfence_block();
        value += sums[other];
    }
    atomicAdd(output, value);
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 32 * kWarps - 1) / (32 * kWarps);
    reduce_sum<<<blocks < 50 ? blocks : 50, 32 * kWarps>>>(input, output, n);
}
