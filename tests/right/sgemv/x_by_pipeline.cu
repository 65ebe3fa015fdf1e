// Asynchronous copies bring x to shared memory in chunks, two ahead, while the block multiplies the chunk before.
// Right, because the wait is for a thread's own copies, and the one barrier a chunk does for both: come, and done with.
#include <cuda_pipeline.h>

constexpr int kThreads = 128, kShare = 8, kRows = kThreads / kShare, kChunk = 256, kStages = 3;

__global__ void sgemv(const float* A, const float* x, float* y, int M, int K) {
    __shared__ float chunks[kStages][kChunk];
    int row = blockIdx.x * kRows + threadIdx.x / kShare, part = threadIdx.x % kShare;
    auto fetch = [&](int chunk) {
        for (int k = threadIdx.x; k < kChunk && chunk * kChunk + k < K; k += kThreads) {
            __pipeline_memcpy_async(&chunks[chunk % kStages][k], x + chunk * kChunk + k, sizeof(float));
        }
        __pipeline_commit();
    };
    float sum = 0.0f;
    for (int chunk = 0; chunk < kStages - 1; ++chunk) fetch(chunk);
    for (int chunk = 0; chunk * kChunk < K; ++chunk) {
        __pipeline_wait_prior(kStages - 2);
        __syncthreads();  // this chunk has come, and the one that the next line overwrites is done with
        fetch(chunk + kStages - 1);
        for (int k = part; row < M && k < min(kChunk, K - chunk * kChunk); k += kShare) {
            sum += A[static_cast<size_t>(row) * K + chunk * kChunk + k] * chunks[chunk % kStages][k];
        }
    }
    __pipeline_wait_prior(0);
    for (int by = kShare / 2; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
    if (row < M && part == 0) y[row] = sum;
}

void solve(const float* A, const float* x, float* y, int M, int K) {
    sgemv<<<(M + kRows - 1) / kRows, kThreads>>>(A, x, y, M, K);
}
