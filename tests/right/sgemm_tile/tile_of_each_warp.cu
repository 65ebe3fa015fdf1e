// Each warp has its own tiles in shared memory and its own 16 x 32 part of C; the kernel has no block barrier.
// Right, because lanes share with lanes of their warp only: __syncwarp after filling, and again before filling anew.
constexpr int kWarps = 4, kRows = 16, kCols = 32, kDepth = 16;

__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ __align__(16) float a_tiles[kWarps][kDepth][kRows], b_tiles[kWarps][kDepth][kCols];
    int warp = threadIdx.y, lane = threadIdx.x;
    int top = (blockIdx.y * kWarps + warp) * kRows, left = blockIdx.x * kCols;
    if (top >= M) return;
    auto& a = a_tiles[warp];
    auto& b = b_tiles[warp];
    int y = lane / 8 * 4, x = lane % 8 * 4;  // this lane's 4 x 4 of the part
    float sum[4][4] = {};
    for (int start = 0; start < K; start += kDepth) {
        for (int i = lane; i < kRows * kDepth; i += 32) {
            int r = i / kDepth, k = i % kDepth;
            a[k][r] = top + r < M && start + k < K ? A[(top + r) * K + start + k] : 0.0f;
        }
        for (int k = 0; k < kDepth; ++k) {
            b[k][lane] = left + lane < N && start + k < K ? B[(start + k) * N + left + lane] : 0.0f;
        }
        __syncwarp();
        for (int k = 0; k < kDepth; ++k) {
            float4 u = *reinterpret_cast<const float4*>(&a[k][y]), v = *reinterpret_cast<const float4*>(&b[k][x]);
            float column[4] = {u.x, u.y, u.z, u.w}, row[4] = {v.x, v.y, v.z, v.w};
            for (int r = 0; r < 4; ++r) {
                for (int c = 0; c < 4; ++c) sum[r][c] += column[r] * row[c];
            }
        }
        __syncwarp();
    }
    for (int r = 0; r < 4; ++r) {
        for (int c = 0; c < 4; ++c) {
            if (top + y + r < M && left + x + c < N) C[(top + y + r) * N + left + x + c] = sum[r][c];
        }
    }
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    int warps = (M + kRows - 1) / kRows;
    sgemm<<<dim3((N + kCols - 1) / kCols, (warps + kWarps - 1) / kWarps), dim3(32, kWarps)>>>(A, B, C, M, N, K);
}
