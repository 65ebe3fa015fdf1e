// The next tiles are loaded to registers before this tile's products, and stored to the other buffer after them.
// Right with one barrier a tile, because the buffer that is stored to was last read before the barrier that came
// before.
constexpr int kTile = 16;

__global__ __launch_bounds__(kTile * kTile) void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[2][kTile][kTile], b[2][kTile][kTile + 1];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * kTile + x, row = blockIdx.y * kTile + y;
    auto load_a = [&](int k) { return row < M && k + x < K ? A[row * K + k + x] : 0.0f; };
    auto load_b = [&](int k) { return col < N && k + y < K ? B[(k + y) * N + col] : 0.0f; };
    a[0][y][x] = load_a(0);
    b[0][y][x] = load_b(0);
    float sum = 0.0f;
    int now = 0;
    for (int start = 0; start < K; start += kTile, now ^= 1) {
        __syncthreads();
        float next_a = load_a(start + kTile), next_b = load_b(start + kTile);
#pragma unroll
        for (int k = 0; k < kTile; ++k) sum += a[now][y][k] * b[now][k][x];
        a[now ^ 1][y][x] = next_a;
        b[now ^ 1][y][x] = next_b;
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    sgemm<<<dim3((N + kTile - 1) / kTile, (M + kTile - 1) / kTile), dim3(kTile, kTile)>>>(A, B, C, M, N, K);
}
