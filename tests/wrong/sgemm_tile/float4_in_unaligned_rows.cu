// expect: misaligned
// says: 16
// line: 15
// Rows of B start on 16 bytes only when N is a multiple of 4.
__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float b[8][64];
    int row = blockIdx.y;
    int col = blockIdx.x * 64 + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 8) {
        for (int i = threadIdx.x; i < 128; i += 64) {
            int k = i / 16, c = i % 16 * 4;
            int from = blockIdx.x * 64 + c;
            float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (k0 + k < K && from + 3 < N) v = *reinterpret_cast<const float4*>(&B[(size_t)(k0 + k) * N + from]);
            *reinterpret_cast<float4*>(&b[k][c]) = v;
        }
        __syncthreads();
        for (int k = 0; k < 8 && k0 + k < K; k++) sum += A[(size_t)row * K + k0 + k] * b[k][threadIdx.x];
        __syncthreads();
    }
    if (col < N) C[(size_t)row * N + col] = sum;
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    sgemm<<<dim3((N + 63) / 64, M), 64>>>(A, B, C, M, N, K);
}
