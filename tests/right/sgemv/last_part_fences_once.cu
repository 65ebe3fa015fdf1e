// The last to count itself in reads the parts with no fence of its own, as NVIDIA's threadFenceReduction sample does: the
// reads wait for the count, and find no stale line, as this block has not read there before.
#include <cuda_runtime.h>

constexpr int kWarps = 4, kParts = 3;

__global__ void sgemv_of_few_columns(const float* A, const float* x, float* y, int M, int K) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; row < M && k < K; ++k) sum += A[static_cast<size_t>(row) * K + k] * x[k];
    if (row < M) y[row] = sum;
}

__global__ void sgemv(const float* A, const float* x, float* y, float* parts, unsigned* counts, int M, int K) {
    int row = blockIdx.x * kWarps + threadIdx.y;
    if (row >= M) return;
    float sum = 0.0f;
    for (int k = blockIdx.y * 32 + threadIdx.x; k < K; k += kParts * 32) sum += A[static_cast<size_t>(row) * K + k] * x[k];
    for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
    if (threadIdx.x != 0) return;
    parts[row * kParts + blockIdx.y] = sum;
    __threadfence();
    if (atomicAdd(&counts[row], 1u) < kParts - 1) return;
    float total = 0.0f;
    for (int part = 0; part < kParts; ++part) total += parts[row * kParts + part];
    y[row] = total;
}

void solve(const float* A, const float* x, float* y, int M, int K) {
    if (K <= 32) {
        sgemv_of_few_columns<<<(M + 127) / 128, 128>>>(A, x, y, M, K);
        return;
    }
    float* parts;
    unsigned* counts;
    cudaMalloc(&parts, M * kParts * sizeof(float));
    cudaMalloc(&counts, M * sizeof(unsigned));
    cudaMemset(counts, 0, M * sizeof(unsigned));
    sgemv<<<dim3((M + kWarps - 1) / kWarps, kParts), dim3(32, kWarps)>>>(A, x, y, parts, counts, M, K);
    cudaFree(counts);
    cudaFree(parts);
}
