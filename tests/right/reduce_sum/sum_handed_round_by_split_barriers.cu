// Split barriers: each warp waits for the one before it at a barrier of its own number, adds its sum to what that one
// left, and arrives at the next warp's barrier without waiting there.
// Right, because barrier w is met by warps w - 1 (bar.arrive) and w (bar.sync) alone, 64 threads, once in each round; a
// __syncthreads, which is barrier 0, stands between the rounds. The lanes of one block name different barriers in one
// instruction.
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
        __syncthreads();
    }
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 32 * kWarps - 1) / (32 * kWarps);
    reduce_sum<<<blocks < 40 ? blocks : 40, 32 * kWarps>>>(input, output, n);
}
