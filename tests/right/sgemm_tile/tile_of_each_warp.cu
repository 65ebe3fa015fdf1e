// Each warp has its own tiles in shared memory and its own 16 x 8 part of C; the kernel has no block barrier.
// Right, because lanes share with lanes of their warp only: __syncwarp after filling, and again before filling anew.
constexpr int kWarps = 4, kRows = 16, kCols = 8, kDepth = 16;

__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a_tiles[kWarps][kDepth][kRows], b_tiles[kWarps][kDepth][kCols];
    int warp = threadIdx.y, lane = threadIdx.x;
    int top = (blockIdx.y * kWarps + warp) * kRows, left = blockIdx.x * kCols;
    if (top >= M) return;
    auto& a = a_tiles[warp];
    auto& b = b_tiles[warp];
    int y = lane / 8, x = lane % 8;  // rows y, y + 4, y + 8 and y + 12 of column x
    float sum[4] = {};
    for (int start = 0; start < K; start += kDepth) {
        for (int i = lane; i < kDepth * kRows; i += 32) {
            int r = i / kDepth, k = i % kDepth;
            a[k][r] = top + r < M && start + k < K ? A[(top + r) * K + start + k] : 0.0f;
        }
        for (int i = lane; i < kDepth * kCols; i += 32) {
            int k = i / kCols, c = i % kCols;
            b[k][c] = left + c < N && start + k < K ? B[(start + k) * N + left + c] : 0.0f;
        }
        __syncwarp();
        for (int k = 0; k < kDepth; ++k) {
            for (int r = 0; r < 4; ++r) sum[r] += a[k][y + 4 * r] * b[k][x];
        }
        __syncwarp();
    }
    for (int r = 0; r < 4; ++r) {
        if (top + y + 4 * r < M && left + x < N) C[(top + y + 4 * r) * N + left + x] = sum[r];
    }
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    int warps = (M + kRows - 1) / kRows;
    sgemm<<<dim3((N + kCols - 1) / kCols, (warps + kWarps - 1) / kWarps), dim3(32, kWarps)>>>(A, B, C, M, N, K);
}
