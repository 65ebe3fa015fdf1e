// A warp has 32 columns of one row; its lanes load 32 elements of A at once, and read them from each other by shuffles.
// Right, because every lane takes part in every shuffle, past the last column too, and past K everybody holds a 0.
__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    int lane = threadIdx.x, col = blockIdx.x * 32 + lane, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M) return;  // the same for the whole warp
    float sum = 0.0f;
    for (int start = 0; start < K; start += 32) {
        float mine = start + lane < K ? A[row * K + start + lane] : 0.0f;
        for (int k = 0; k < min(32, K - start); ++k) {
            float a = __shfl_sync(0xffffffffu, mine, k);
            float b = col < N ? B[(start + k) * N + col] : 0.0f;
            sum = fmaf(a, b, sum);
        }
    }
    if (col < N) C[row * N + col] = sum;
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    sgemm<<<dim3((N + 31) / 32, (M + 4) / 5), dim3(32, 5)>>>(A, B, C, M, N, K);
}
