// Rung 3: One warp per row, float4
//
// Every load brings 16 bytes, and the loop is unrolled so that four of them are in flight a lane.
// Removes: three of four load instructions, and much of the wait for each.
// Still costs: with few rows there are few warps, and most of the machine has nothing to do. Rows start on 16 bytes
// only when K is a multiple of 4; otherwise the kernel takes one float at a time.
#include <cuda_runtime.h>

constexpr int kWarpsPerBlock = 8;

__device__ float warp_sum(float value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

__device__ float dot4(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

template <bool kVector>
__global__ void sgemv(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y, int M, int K) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * kWarpsPerBlock + threadIdx.x / 32;
    if (row >= M) return;  // the whole warp leaves together
    const float* a = A + (size_t)row * K;

    float sum = 0.0f;
    if (kVector) {
        const float4* a4 = reinterpret_cast<const float4*>(a);
        const float4* x4 = reinterpret_cast<const float4*>(x);
#pragma unroll 4
        for (int i = lane; i < K / 4; i += 32) sum += dot4(a4[i], x4[i]);
    } else {
#pragma unroll 4
        for (int k = lane; k < K; k += 32) sum += a[k] * x[k];
    }
    sum = warp_sum(sum);
    if (lane == 0) y[row] = sum;
}

void solve(const float* A, const float* x, float* y, int M, int K) {
    int blocks = (M + kWarpsPerBlock - 1) / kWarpsPerBlock;
    if (K % 4 == 0) {
        sgemv<true><<<blocks, 32 * kWarpsPerBlock>>>(A, x, y, M, K);
    } else {
        sgemv<false><<<blocks, 32 * kWarpsPerBlock>>>(A, x, y, M, K);
    }
}
