// A row's columns are split over blocks, which add their parts by atomics to an output that cudaMemset cleared.
// Right, because each part is added once; the order differs from run to run, within the bound.
#include <cuda_runtime.h>

constexpr int kWarps = 4, kShare = 512;

__global__ void sgemv(const float* A, const float* x, float* y, int M, int K) {
    int row = blockIdx.x * kWarps + threadIdx.y, start = blockIdx.y * kShare;
    if (row >= M) return;
    float sum = 0.0f;
    for (int k = start + threadIdx.x; k < min(start + kShare, K); k += 32) sum += A[static_cast<size_t>(row) * K + k] * x[k];
    for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
    if (threadIdx.x == 0) atomicAdd(&y[row], sum);
}

void solve(const float* A, const float* x, float* y, int M, int K) {
    cudaMemset(y, 0, M * sizeof(float));
    dim3 grid((M + kWarps - 1) / kWarps, (K + kShare - 1) / kShare);
    sgemv<<<grid, dim3(32, kWarps)>>>(A, x, y, M, K);
}
