// When the loop is over, the memory of the tiles holds the block's results, to be written to C along its rows.
// Right, because the loop ends with a barrier: nobody reads a tile any more when the first result is stored over it.
constexpr int kTile = 32, kThreads = 256;

union Storage {
    struct {
        float a[kTile][kTile], b[kTile][kTile];
    } tiles;
    float result[kTile * kTile];
};

__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ Storage storage;
    int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
    int x = threadIdx.x % 16 * 2, y = threadIdx.x / 16 * 2;  // this thread's 2 x 2 of the tile
    float sum[2][2] = {};
    for (int start = 0; start < K; start += kTile) {
        for (int i = threadIdx.x; i < kTile * kTile; i += kThreads) {
            int r = i / kTile, c = i % kTile;
            storage.tiles.a[r][c] = top + r < M && start + c < K ? A[(top + r) * K + start + c] : 0.0f;
            storage.tiles.b[r][c] = left + c < N && start + r < K ? B[(start + r) * N + left + c] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < kTile; ++k) {
            float2 b = *reinterpret_cast<float2*>(&storage.tiles.b[k][x]);
            for (int r = 0; r < 2; ++r) {
                sum[r][0] += storage.tiles.a[y + r][k] * b.x;
                sum[r][1] += storage.tiles.a[y + r][k] * b.y;
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < 2; ++r) {
        *reinterpret_cast<float2*>(&storage.result[(y + r) * kTile + x]) = make_float2(sum[r][0], sum[r][1]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kTile * kTile; i += kThreads) {
        int row = top + i / kTile, col = left + i % kTile;
        if (row < M && col < N) C[row * N + col] = storage.result[i];
    }
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    sgemm<<<dim3((N + kTile - 1) / kTile, (M + kTile - 1) / kTile), kThreads>>>(A, B, C, M, N, K);
}
