// expect: race
// says: __threadfence()
// line: 10
// The lock is taken by atomicCAS alone: without a fence the sum may be read before it is held.
__device__ int lock = 0;

__device__ void add_under_lock(float* total, float value) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    *total += value;
    __threadfence();
    atomicExch(&lock, 0);
}

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float sums[32];
    float value = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += input[i];
    for (int by = 16; by > 0; by /= 2) value += __shfl_xor_sync(0xffffffffu, value, by);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < 32; ++warp) value += sums[warp];
        add_under_lock(output, value);
    }
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 1023) / 1024;
    reduce_sum<<<blocks < 12 ? blocks : 12, 1024>>>(input, output, n);
}
