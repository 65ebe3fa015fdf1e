// expect: race
// says: race
// line: 13
// One warp per tile of C: the lanes are taken to be in lockstep.
__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[32];
    int row = blockIdx.y;
    int col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 32) {
        int i = k0 + threadIdx.x;
        a[threadIdx.x] = i < K ? A[(size_t)row * K + i] : 0.0f;
        for (int k = 0; k < 32 && k0 + k < K; k++) sum += a[k] * (col < N ? B[(size_t)(k0 + k) * N + col] : 0.0f);
    }
    if (col < N) C[(size_t)row * N + col] = sum;
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    for (int first = 0; first < M; first += 65535) {
        int rows = M - first < 65535 ? M - first : 65535;
        sgemm<<<dim3((N + 31) / 32, rows), 32>>>(A + (size_t)first * K, B, C + (size_t)first * N, rows, N, K);
    }
}
