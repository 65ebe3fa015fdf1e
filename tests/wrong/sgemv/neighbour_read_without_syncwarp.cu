// expect: race
// says: __syncwarp()
// line: 30
// A lane waits for its own copies, and reads its neighbour's: __syncwarp() is missing in between.
#include <cuda_pipeline.h>

constexpr int kStages = 4, kWarps = 4;

__global__ void sgemv(const float* A, const float* x, float* y, int M, int K) {
    __shared__ float stages[kWarps][kStages][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * kWarps + warp;
    if (row >= M) return;
    const float* from = A + static_cast<size_t>(row) * K;
    auto fetch = [&](int chunk) {
        int k = chunk * 32 + lane;
        float* to = &stages[warp][chunk % kStages][lane];
        if (k < K) {
            __pipeline_memcpy_async(to, from + k, sizeof(float));
        } else if (chunk * 32 < K) {
            *to = 0.0f;
        }
        __pipeline_commit();
    };
    for (int chunk = 0; chunk < kStages - 1; ++chunk) fetch(chunk);
    float sum = 0.0f;
    for (int chunk = 0; chunk * 32 < K; ++chunk) {
        fetch(chunk + kStages - 1);
        __pipeline_wait_prior(kStages - 1);
        int k = chunk * 32 + (lane ^ 1);  // what the neighbour fetched
        if (k < K) sum += stages[warp][chunk % kStages][lane ^ 1] * x[k];
        __syncwarp();
    }
    for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
    if (lane == 0) y[row] = sum;
}

void solve(const float* A, const float* x, float* y, int M, int K) {
    sgemv<<<(M + kWarps - 1) / kWarps, 32 * kWarps>>>(A, x, y, M, K);
}
