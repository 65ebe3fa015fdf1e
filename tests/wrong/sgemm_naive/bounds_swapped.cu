// expect: out_of_bounds
// says: past the end of A
// line: 10
// Rows are checked against N and columns against M: right for square matrices only.
__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= N || col >= M) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[(size_t)row * K + k] * B[(size_t)k * N + col];
    C[(size_t)row * N + col] = sum;
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 block(32, 8);
    dim3 grid((N + 31) / 32, (M + 7) / 8);
    sgemm<<<grid, block>>>(A, B, C, M, N, K);
}
