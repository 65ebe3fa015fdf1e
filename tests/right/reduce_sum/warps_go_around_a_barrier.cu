// Two of the warps add up what all have left, and meet at a barrier inside an `if` that the other six go around.
// Right, because that barrier is one of 64 threads, and warps go around it whole.
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float partial[kThreads];
    int thread = threadIdx.x;
    float value = 0.0f;
    for (int i = blockIdx.x * kThreads + thread; i < n; i += gridDim.x * kThreads) value += input[i];
    partial[thread] = value;
    __syncthreads();
    if (thread < 64) {
        for (int other = thread + 64; other < kThreads; other += 64) partial[thread] += partial[other];
        asm volatile("bar.sync 1, 64;" ::: "memory");
        if (thread < 32) partial[thread] += partial[thread + 32];
    }
    for (int half = 16; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) partial[thread] += partial[thread + half];
    }
    if (thread == 0) atomicAdd(output, partial[0]);
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + kThreads - 1) / kThreads;
    reduce_sum<<<blocks < 40 ? blocks : 40, kThreads>>>(input, output, n);
}
