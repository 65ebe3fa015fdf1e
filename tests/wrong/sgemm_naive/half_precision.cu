// expect: scattered
// says: low precision
// Products are added in half precision.
#include <cuda_fp16.h>

__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    __half total = __float2half(0.0f);
    for (int k = 0; k < K; k++) {
        total = __hfma(__float2half(A[(size_t)row * K + k]), __float2half(B[(size_t)k * N + col]), total);
    }
    sum = __half2float(total);
    C[(size_t)row * N + col] = sum;
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 block(32, 8);
    dim3 grid((N + 31) / 32, (M + 7) / 8);
    sgemm<<<grid, block>>>(A, B, C, M, N, K);
}
