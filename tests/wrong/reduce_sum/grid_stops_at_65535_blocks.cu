// expect: left_out
// says: only the first 16,776,960 of 33,554,432 elements of x are read
// Each warp adds its own 32 elements up, and nobody those that lie behind the last block.
#include <cuda_runtime.h>

__global__ void sum(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? x[i] : 0.0f;
    for (int apart = 16; apart > 0; apart /= 2) value += __shfl_down_sync(0xffffffff, value, apart);
    if (threadIdx.x % 32 == 0) atomicAdd(out, value);
}

void solve(const float* x, float* out, int n) {
    sum<<<min((n + 255) / 256, 65535), 256>>>(x, out, n);
}
