// Rung 4: One block per row for long rows
//
// A long row is shared by the warps of a block: each adds up its part, and the parts meet in shared memory. Rows of
// less than 1024 columns keep a warp each. Every element of A is used once, so it is loaded with `__ldcs` (streaming):
// the L1 cache is left to x, which every row needs.
// Removes: the idle machine when rows are few and long; the long chain of loads behind one another in a warp.
// Still costs: a barrier per row; a single very long row still has only one SM at work.
#include <cuda_runtime.h>

constexpr int kThreads = 256;       // per block, and for each row of up to 8192 columns
constexpr int kManyThreads = 1024;  // for each longer row

__device__ float warp_sum(float value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

__device__ float dot4(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

// What thread `rank` of kTeam adds up of a row's dot product with x.
template <bool kVector, int kTeam>
__device__ float partial_dot(const float* __restrict__ a, const float* __restrict__ x, int K, int rank) {
    float sum = 0.0f;
    if (kVector) {
        const float4* a4 = reinterpret_cast<const float4*>(a);
        const float4* x4 = reinterpret_cast<const float4*>(x);
#pragma unroll 4
        for (int i = rank; i < K / 4; i += kTeam) sum += dot4(__ldcs(&a4[i]), __ldg(&x4[i]));
    } else {
#pragma unroll 4
        for (int k = rank; k < K; k += kTeam) sum += __ldcs(&a[k]) * __ldg(&x[k]);
    }
    return sum;
}

template <bool kVector>
__global__ void sgemv_warp_per_row(const float* A, const float* x, float* y, int M, int K) {
    int row = blockIdx.x * (kThreads / 32) + threadIdx.x / 32;
    if (row >= M) return;  // the whole warp leaves together
    int lane = threadIdx.x % 32;
    float sum = warp_sum(partial_dot<kVector, 32>(A + (size_t)row * K, x, K, lane));
    if (lane == 0) y[row] = sum;
}

template <bool kVector, int kTeam>
__global__ void sgemv_block_per_row(const float* A, const float* x, float* y, int K) {
    constexpr int kWarps = kTeam / 32;
    __shared__ float partial[kWarps];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    float sum = warp_sum(partial_dot<kVector, kTeam>(A + (size_t)blockIdx.x * K, x, K, threadIdx.x));
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < kWarps ? partial[lane] : 0.0f);
        if (lane == 0) y[blockIdx.x] = sum;
    }
}

template <bool kVector>
void launch(const float* A, const float* x, float* y, int M, int K) {
    if (K < 1024) {
        int rows_per_block = kThreads / 32;
        sgemv_warp_per_row<kVector><<<(M + rows_per_block - 1) / rows_per_block, kThreads>>>(A, x, y, M, K);
    } else if (K <= 8192) {
        sgemv_block_per_row<kVector, kThreads><<<M, kThreads>>>(A, x, y, K);
    } else {
        sgemv_block_per_row<kVector, kManyThreads><<<M, kManyThreads>>>(A, x, y, K);
    }
}

void solve(const float* A, const float* x, float* y, int M, int K) {
    if (K % 4 == 0) {
        launch<true>(A, x, y, M, K);
    } else {
        launch<false>(A, x, y, M, K);
    }
}
