// expect: uninitialised
// says: before it has a value
// line: 11
// The sum is declared and never set to 0: what its register held before is added too.
__global__ void sgemv(const float* A, const float* x, float* y, int M, int K) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= M) return;
    const float* a = A + (size_t)row * K;
    float sum;
    for (int k = lane; k < K; k += 32) sum += a[k] * x[k];
    for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
    if (lane == 0) y[row] = sum;
}

void solve(const float* A, const float* x, float* y, int M, int K) { sgemv<<<(M + 7) / 8, 256>>>(A, x, y, M, K); }
