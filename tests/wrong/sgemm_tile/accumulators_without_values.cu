// expect: uninitialised
// says: before it has a value
// line: 27
// Each thread's 2 x 2 sums are declared without "= {}".
constexpr int TILE = 32, DEPTH = 16;

__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[TILE][DEPTH + 1], b[DEPTH][TILE + 1];
    int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
    int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    float sums[2][2];
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        for (int n = thread; n < TILE * DEPTH; n += 256) {
            int row = first_row + n / DEPTH, k = k0 + n % DEPTH;
            a[n / DEPTH][n % DEPTH] = row < M && k < K ? A[(size_t)row * K + k] : 0.0f;
            int column = first_column + n % TILE;
            k = k0 + n / TILE;
            b[n / TILE][n % TILE] = k < K && column < N ? B[(size_t)k * N + column] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
#pragma unroll
            for (int i = 0; i < 2; ++i) {
#pragma unroll
                for (int j = 0; j < 2; ++j)
                    sums[i][j] += a[ty + 16 * i][k] * b[k][tx + 16 * j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            int row = first_row + ty + 16 * i, column = first_column + tx + 16 * j;
            if (row < M && column < N) C[(size_t)row * N + column] = sums[i][j];
        }
    }
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    sgemm<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), 256>>>(A, B, C, M, N, K);
}
