// Rung 2: Thread tile, 128 x 128 x 8 with 8 x 8 per thread
//
// A block of 256 threads computes 128 x 128 of C, every thread an 8 x 8 part of it in registers: 16 shared loads now
// feed 64 multiply-adds.
// Removes: seven of eight shared loads; three of four global ones, as every element brought in is used 128 times.
// Still costs: one float a load everywhere; loading and computing take turns; 64 accumulators leave room for few warps.
#include <cuda_runtime.h>

constexpr int kTile = 128;     // rows and columns of C per block
constexpr int kDepth = 8;      // columns of A and rows of B per step
constexpr int kThreads = 256;  // 16 x 16
constexpr int kPart = 8;       // rows and columns of C per thread

__global__ void __launch_bounds__(kThreads) sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[kTile][kDepth];
    __shared__ float b[kDepth][kTile];
    int thread = threadIdx.x;
    int row0 = blockIdx.y * kTile;
    int col0 = blockIdx.x * kTile;
    int thread_row = thread / 16;  // this thread's rows are thread_row + 16 * i, its columns thread_col + 16 * j
    int thread_col = thread % 16;

    float sum[kPart][kPart] = {};
    for (int k0 = 0; k0 < K; k0 += kDepth) {
#pragma unroll
        for (int i = thread; i < kTile * kDepth; i += kThreads) {
            int row = row0 + i / kDepth;
            int k = k0 + i % kDepth;
            a[i / kDepth][i % kDepth] = row < M && k < K ? A[(size_t)row * K + k] : 0.0f;
        }
#pragma unroll
        for (int i = thread; i < kDepth * kTile; i += kThreads) {
            int k = k0 + i / kTile;
            int col = col0 + i % kTile;
            b[i / kTile][i % kTile] = k < K && col < N ? B[(size_t)k * N + col] : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int k = 0; k < kDepth; k++) {
            float a_part[kPart], b_part[kPart];
#pragma unroll
            for (int i = 0; i < kPart; i++) a_part[i] = a[thread_row + 16 * i][k];
#pragma unroll
            for (int j = 0; j < kPart; j++) b_part[j] = b[k][thread_col + 16 * j];
#pragma unroll
            for (int i = 0; i < kPart; i++) {
#pragma unroll
                for (int j = 0; j < kPart; j++) sum[i][j] += a_part[i] * b_part[j];
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < kPart; i++) {
#pragma unroll
        for (int j = 0; j < kPart; j++) {
            int row = row0 + thread_row + 16 * i;
            int col = col0 + thread_col + 16 * j;
            if (row < M && col < N) C[(size_t)row * N + col] = sum[i][j];
        }
    }
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 grid((N + kTile - 1) / kTile, (M + kTile - 1) / kTile);
    sgemm<<<grid, kThreads>>>(A, B, C, M, N, K);
}
