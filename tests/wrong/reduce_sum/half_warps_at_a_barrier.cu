// expect: barrier
// says: counts them as a whole warp
// line: 18
// The lower halves of four warps meet at a barrier of 64 threads, and the upper halves go around it. The hardware counts
// whole warps, so it opens when two of the four have come.
#include <cuda_runtime.h>

constexpr int kWarps = 4, kThreads = 32 * kWarps;

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float partial[16 * kWarps];
    int lane = threadIdx.x % 32, place = threadIdx.x / 32 * 16 + lane % 16;
    float value = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) value += input[i];
    value += __shfl_down_sync(0xffffffffu, value, 16);
    if (lane < 16) {
        partial[place] = value;
        asm volatile("barrier.sync 1, 64;" ::: "memory");
    }
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int k = 0; k < 16 * kWarps; ++k) sum += partial[k];
        atomicAdd(output, sum);
    }
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + kThreads - 1) / kThreads;
    reduce_sum<<<blocks < 40 ? blocks : 40, kThreads>>>(input, output, n);
}
