// expect: race
// says: __threadfence()
// line: 32
// The reader polls a volatile flag but reads the sums behind it without a fence.
#include <cuda_runtime.h>

constexpr int kThreads = 128;

__global__ void reduce_sum(const float* input, float* output, float* sums, volatile int* flags, int n) {
    __shared__ float tree[kThreads];
    float value = 0.0f;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) value += input[i];
    tree[threadIdx.x] = value;
    for (int half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = tree[0];
    if (blockIdx.x + 1 < gridDim.x) {
        if (threadIdx.x == 0) {
            __threadfence();
            flags[blockIdx.x] = 1;
        }
        return;
    }
    if (threadIdx.x < blockIdx.x) {
        while (flags[threadIdx.x] == 0) __nanosleep(100);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    float total = 0.0f;
    for (int block = 0; block < gridDim.x; ++block) total += sums[block];
    *output = total;
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + kThreads - 1) / kThreads;
    blocks = blocks < 20 ? blocks : 20;
    float* sums;
    int* flags;
    cudaMalloc(&sums, blocks * sizeof(float));
    cudaMalloc(&flags, blocks * sizeof(int));
    cudaMemset(flags, 0, blocks * sizeof(int));
    reduce_sum<<<blocks, kThreads>>>(input, output, sums, flags, n);
    cudaFree(flags);
    cudaFree(sums);
}
