// expect: barrier
// says: its last meeting
// line: 17
// Without the barrier between the rounds a warp may arrive a second time before the next one has passed the first.
constexpr int kWarps = 6, kRounds = 2;

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float running[kWarps];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, half = (n + kRounds - 1) / kRounds;
    for (int round = 0; round < kRounds; ++round) {
        int end = min(n, (round + 1) * half);
        float value = 0.0f;
        for (int i = round * half + blockIdx.x * blockDim.x + threadIdx.x; i < end; i += gridDim.x * blockDim.x) {
            value += input[i];
        }
        for (int by = 16; by > 0; by /= 2) value += __shfl_down_sync(0xffffffffu, value, by);
        if (warp > 0) asm volatile("bar.sync %0, 64;" ::"r"(warp) : "memory");
        if (lane == 0) {
            running[warp] = value + (warp > 0 ? running[warp - 1] : 0.0f);
            if (warp == kWarps - 1) atomicAdd(output, running[warp]);
        }
        if (warp + 1 < kWarps) {
            __syncwarp();
            asm volatile("bar.arrive %0, 64;" ::"r"(warp + 1) : "memory");
        }
    }
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 32 * kWarps - 1) / (32 * kWarps);
    reduce_sum<<<blocks < 40 ? blocks : 40, 32 * kWarps>>>(input, output, n);
}
