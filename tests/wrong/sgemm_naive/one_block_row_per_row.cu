// expect: launch
// says: 65,535
// line: 17
// A grid as tall as C: 70001 rows are more than gridDim.y can be.
__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[(size_t)row * K + k] * B[(size_t)k * N + col];
    C[(size_t)row * N + col] = sum;
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 block(256, 1);
    dim3 grid((N + 255) / 256, M);
    sgemm<<<grid, block>>>(A, B, C, M, N, K);
}
