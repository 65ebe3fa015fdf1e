// expect: race
// says: race
// line: 16
// One array for both tiles: B's tile goes where A's is still being read.
__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float tile[16][16];
    int row = blockIdx.y * 16 + threadIdx.y;
    int col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        int i = k0 + threadIdx.x, j = k0 + threadIdx.y;
        tile[threadIdx.y][threadIdx.x] = row < M && i < K ? A[(size_t)row * K + i] : 0.0f;
        __syncthreads();
        float a[16];
        for (int k = 0; k < 16; k++) a[k] = tile[threadIdx.y][k];
        tile[threadIdx.y][threadIdx.x] = j < K && col < N ? B[(size_t)j * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += a[k] * tile[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[(size_t)row * N + col] = sum;
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    sgemm<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K);
}
