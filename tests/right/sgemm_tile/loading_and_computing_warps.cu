// Warp specialisation: four warps load tiles, four others compute, and named barriers hand two buffers to and fro.
// Right, because "full" is arrived at by the loaders and waited for by the others, "free" the other way round, each counted
// for all 256 threads; the buffers start free, so the loaders wait for one only from the third tile on.
constexpr int kRows = 64, kCols = 32, kDepth = 16, kLoaders = 128, kThreads = kLoaders + 128;

__device__ void wait(int name) { asm volatile("bar.sync %0, %1;" ::"r"(name), "n"(kThreads) : "memory"); }
__device__ void arrive(int name) { asm volatile("bar.arrive %0, %1;" ::"r"(name), "n"(kThreads) : "memory"); }
__device__ int full(int buffer) { return 1 + buffer; }
__device__ int free_again(int buffer) { return 3 + buffer; }

struct alignas(16) Buffer {
    float a[kDepth][kRows], b[kDepth][kCols];
};

__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ Buffer buffers[2];
    int top = blockIdx.y * kRows, left = blockIdx.x * kCols, tiles = (K + kDepth - 1) / kDepth;
    if (threadIdx.x < kLoaders) {
        for (int tile = 0; tile < tiles; ++tile) {
            if (tile >= 2) wait(free_again(tile % 2));
            Buffer& buffer = buffers[tile % 2];
            for (int i = threadIdx.x; i < kRows * kDepth; i += kLoaders) {
                int r = i / kDepth, k = tile * kDepth + i % kDepth;
                buffer.a[i % kDepth][r] = top + r < M && k < K ? A[(top + r) * K + k] : 0.0f;
            }
            for (int i = threadIdx.x; i < kDepth * kCols; i += kLoaders) {
                int c = i % kCols, k = tile * kDepth + i / kCols;
                buffer.b[i / kCols][c] = left + c < N && k < K ? B[k * N + left + c] : 0.0f;
            }
            arrive(full(tile % 2));
        }
        return;
    }
    int thread = threadIdx.x - kLoaders, x = thread % 8 * 4, y = thread / 8 * 4;  // this thread's 4 x 4 of the tile
    float sum[4][4] = {};
    for (int tile = 0; tile < tiles; ++tile) {
        wait(full(tile % 2));
        const Buffer& buffer = buffers[tile % 2];
        for (int k = 0; k < kDepth; ++k) {
            float4 u = *reinterpret_cast<const float4*>(&buffer.a[k][y]);
            float4 v = *reinterpret_cast<const float4*>(&buffer.b[k][x]);
            float column[4] = {u.x, u.y, u.z, u.w}, row[4] = {v.x, v.y, v.z, v.w};
            for (int r = 0; r < 4; ++r) {
                for (int c = 0; c < 4; ++c) sum[r][c] += column[r] * row[c];
            }
        }
        if (tile + 2 < tiles) arrive(free_again(tile % 2));
    }
    for (int r = 0; r < 4; ++r) {
        for (int c = 0; c < 4; ++c) {
            if (top + y + r < M && left + x + c < N) C[(top + y + r) * N + left + x + c] = sum[r][c];
        }
    }
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    sgemm<<<dim3((N + kCols - 1) / kCols, (M + kRows - 1) / kRows), kThreads>>>(A, B, C, M, N, K);
}
