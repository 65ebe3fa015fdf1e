// Rows and columns of a tile that lie outside the matrices are not filled; the block computes with what happens to be
// there.
// Right, because such a row or column belongs to results that are never stored; only the tail of K, which counts in
// every result, is filled with zeros.
constexpr int kTile = 16;

__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[kTile][kTile], b[kTile][kTile];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * kTile + x, row = blockIdx.y * kTile + y;
    float sum = 0.0f;
    for (int start = 0; start < K; start += kTile) {
        if (row < M) a[y][x] = start + x < K ? A[row * K + start + x] : 0.0f;
        if (col < N) b[y][x] = start + y < K ? B[(start + y) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < kTile; ++k) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    sgemm<<<dim3((N + kTile - 1) / kTile, (M + kTile - 1) / kTile), dim3(kTile, kTile)>>>(A, B, C, M, N, K);
}
