// Inputs wait in shared memory as three bfloat16 each, high, middle and low, and are put together again by a neighbour.
// Right, because 3 x 8 bits hold the 24 of a float, each remainder is exact, and no value here is so small that its
// last part would be lost.
#include <cuda_bf16.h>

constexpr int kThreads = 256;

struct Parts {
    __nv_bfloat162 upper;
    __nv_bfloat16 lower;
};

__device__ Parts split(float x) {
    Parts parts;
    __nv_bfloat16 high = __float2bfloat16(x);
    float rest = x - __bfloat162float(high);
    __nv_bfloat16 middle = __float2bfloat16(rest);
    parts.upper = __halves2bfloat162(high, middle);
    parts.lower = __float2bfloat16(rest - __bfloat162float(middle));
    return parts;
}

__global__ void sigmoid(const float* x, float* y, int n) {
    __shared__ Parts parts[kThreads];
    int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < n) parts[threadIdx.x] = split(x[i]);
    __syncthreads();
    int other = threadIdx.x ^ 33, there = blockIdx.x * kThreads + other;
    if (there >= n) return;
    Parts mine = parts[other];
    float value = __low2float(mine.upper) + (__high2float(mine.upper) + __bfloat162float(mine.lower));
    y[there] = 1.0f / (1.0f + expf(-value));
}

void solve(const float* x, float* y, int n) {
    sigmoid<<<(n + kThreads - 1) / kThreads, kThreads>>>(x, y, n);
}
