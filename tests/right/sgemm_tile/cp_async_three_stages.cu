// Tiles of A and B come by cp.async, three stages deep; what lies outside the matrices is filled with zeros by the copy
// itself (a source size of 0), from an address that it then does not read.
// Right, because one barrier a tile stands between the last use of a stage and the copy that fills it again.
constexpr int kTile = 16, kStages = 3;

struct Stage {
    float a[kTile][kTile], b[kTile][kTile];
};

__device__ void copy_async(float* to, const float* from, bool inside) {
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(inside ? 4 : 0) : "memory");
}

__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ Stage stages[kStages];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * kTile + x, row = blockIdx.y * kTile + y;
    auto fetch = [&](int tile) {
        Stage& stage = stages[tile % kStages];
        int k = tile * kTile;
        bool a_inside = row < M && k + x < K, b_inside = col < N && k + y < K;
        copy_async(&stage.a[y][x], a_inside ? A + row * K + k + x : A, a_inside);
        copy_async(&stage.b[y][x], b_inside ? B + (k + y) * N + col : B, b_inside);
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    int tiles = (K + kTile - 1) / kTile;
    float sum = 0.0f;
    for (int tile = 0; tile < kStages - 1; ++tile) fetch(tile);
    for (int tile = 0; tile < tiles; ++tile) {
        asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
        __syncthreads();
        fetch(tile + kStages - 1);
        Stage& stage = stages[tile % kStages];
#pragma unroll
        for (int k = 0; k < kTile; ++k) sum += stage.a[y][k] * stage.b[k][x];
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    if (row < M && col < N) C[row * N + col] = sum;
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    sgemm<<<dim3((N + kTile - 1) / kTile, (M + kTile - 1) / kTile), dim3(kTile, kTile)>>>(A, B, C, M, N, K);
}
