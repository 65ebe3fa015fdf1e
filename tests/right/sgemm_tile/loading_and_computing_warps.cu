// Warp specialisation: one warp loads tiles, four compute, and named barriers hand two buffers to and fro.
// Right, because "full" is arrived at by the loader and waited for by the others, "free" the other way round, each counted for
// all 160 threads; the buffers start free, so the loader waits for one only from its third tile on.
constexpr int kTile = 16, kLoaders = 32, kThreads = kLoaders + 128;

__device__ void wait(int name) { asm volatile("bar.sync %0, %1;" ::"r"(name), "n"(kThreads) : "memory"); }
__device__ void arrive(int name) { asm volatile("bar.arrive %0, %1;" ::"r"(name), "n"(kThreads) : "memory"); }
__device__ int full(int buffer) { return 1 + buffer; }
__device__ int free_again(int buffer) { return 3 + buffer; }

struct Buffer {
    float a[kTile][kTile], b[kTile][kTile];
};

__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ Buffer buffers[2];
    int top = blockIdx.y * kTile, left = blockIdx.x * kTile, tiles = (K + kTile - 1) / kTile;
    if (threadIdx.x < kLoaders) {
        for (int tile = 0; tile < tiles; ++tile) {
            if (tile >= 2) wait(free_again(tile % 2));
            Buffer& buffer = buffers[tile % 2];
            for (int i = threadIdx.x; i < kTile * kTile; i += kLoaders) {
                int y = i / kTile, x = i % kTile, k = tile * kTile;
                buffer.a[y][x] = top + y < M && k + x < K ? A[(top + y) * K + k + x] : 0.0f;
                buffer.b[y][x] = left + x < N && k + y < K ? B[(k + y) * N + left + x] : 0.0f;
            }
            arrive(full(tile % 2));
        }
        return;
    }
    int thread = threadIdx.x - kLoaders, x = thread % kTile, y = thread / kTile;
    float upper = 0.0f, lower = 0.0f;
    for (int tile = 0; tile < tiles; ++tile) {
        wait(full(tile % 2));
        const Buffer& buffer = buffers[tile % 2];
        for (int k = 0; k < kTile; ++k) {
            upper += buffer.a[y][k] * buffer.b[k][x];
            lower += buffer.a[y + kTile / 2][k] * buffer.b[k][x];
        }
        if (tile + 2 < tiles) arrive(free_again(tile % 2));
    }
    if (left + x >= N) return;
    if (top + y < M) C[(top + y) * N + left + x] = upper;
    if (top + y + kTile / 2 < M) C[(top + y + kTile / 2) * N + left + x] = lower;
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    sgemm<<<dim3((N + kTile - 1) / kTile, (M + kTile - 1) / kTile), kThreads>>>(A, B, C, M, N, K);
}
