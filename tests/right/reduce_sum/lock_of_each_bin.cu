// Sixteen bins with a lock each, that any of a block's first 64 threads may want, lanes of one warp too.
// Right, because a lane that gets the lock also gives it back within the same round of the loop: nobody waits for a
// lane that waits for it.
#include <cuda_runtime.h>

constexpr int kBins = 16, kSlots = 64;

__global__ void fill(const float* input, float* bins, int* locks, int n) {
    __shared__ float slots[kSlots];
    if (threadIdx.x < kSlots) slots[threadIdx.x] = 0.0f;
    __syncthreads();
    float value = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += input[i];
    atomicAdd(&slots[threadIdx.x % kSlots], value);
    __syncthreads();
    if (threadIdx.x >= kSlots) return;
    int bin = threadIdx.x * 7 / 3 % kBins;
    for (bool done = false; !done;) {
        if (atomicCAS(&locks[bin], 0, 1) == 0) {
            __threadfence();
            bins[bin] += slots[threadIdx.x];
            __threadfence();
            atomicExch(&locks[bin], 0);
            done = true;
        }
    }
}

__global__ void add_up(const float* bins, float* output) {
    float total = 0.0f;
    for (int bin = 0; bin < kBins; ++bin) total += bins[bin];
    *output = total;
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 1023) / 1024;
    float* bins;
    cudaMalloc(&bins, 2 * kBins * sizeof(float));
    cudaMemset(bins, 0, 2 * kBins * sizeof(float));
    fill<<<blocks < 3 ? blocks : 3, 1024>>>(input, bins, reinterpret_cast<int*>(bins + kBins), n);
    add_up<<<1, 1>>>(bins, output);
    cudaFree(bins);
}
