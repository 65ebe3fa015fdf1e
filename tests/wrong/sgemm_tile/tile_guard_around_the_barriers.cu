// expect: barrier
// says: go around the __syncthreads() on line 15
// line: 15
// Only threads with an element of C load and compute, barriers included; the others of their warps run through the loop.
__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[16][16];
    __shared__ float b[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        if (row < M && col < N) {
            a[y][x] = k0 + x < K ? A[(size_t)row * K + k0 + x] : 0.0f;
            b[y][x] = k0 + y < K ? B[(size_t)(k0 + y) * N + col] : 0.0f;
            __syncthreads();
            for (int k = 0; k < 16; k++) sum += a[y][k] * b[k][x];
            __syncthreads();
        }
    }
    if (row < M && col < N) C[(size_t)row * N + col] = sum;
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 grid((N + 15) / 16, (M + 15) / 16);
    sgemm<<<grid, dim3(16, 16)>>>(A, B, C, M, N, K);
}
