// expect: race
// says: put __syncthreads() after line 17, before line 14
// line: 15
// A fast warp overwrites the tiles while a slow one still uses them.
__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[16][16];
    __shared__ float b[16][16];
    int row = blockIdx.y * 16 + threadIdx.y;
    int col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        int i = k0 + threadIdx.x;
        int j = k0 + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = row < M && i < K ? A[(size_t)row * K + i] : 0.0f;
        b[threadIdx.y][threadIdx.x] = j < K && col < N ? B[(size_t)j * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
    }
    if (row < M && col < N) C[(size_t)row * N + col] = sum;
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 grid((N + 15) / 16, (M + 15) / 16);
    sgemm<<<grid, dim3(16, 16)>>>(A, B, C, M, N, K);
}
