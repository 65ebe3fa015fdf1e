// Rung 1: One thread per row
//
// Each thread takes the dot product of its row with x.
// Still costs: the 32 lanes of a warp read 32 rows at once, one 32-byte sector each for 4 useful bytes, and only M
// threads are busy.
#include <cuda_runtime.h>

__global__ void sgemv(const float* A, const float* x, float* y, int M, int K) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[(size_t)row * K + k] * x[k];
    y[row] = sum;
}

void solve(const float* A, const float* x, float* y, int M, int K) {
    int threads = 128;
    sgemv<<<(M + threads - 1) / threads, threads>>>(A, x, y, M, K);
}
