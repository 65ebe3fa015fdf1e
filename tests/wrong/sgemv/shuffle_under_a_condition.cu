// expect: missing_lanes
// says: which has exited
// line: 13
// Lanes beyond K skip a shuffle that names them.
__global__ void sgemv(const float* A, const float* x, float* y, int M, int K) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= M) return;
    const float* a = A + (size_t)row * K;
    float sum = 0.0f;
    for (int k = lane; k < K; k += 32) sum += a[k] * x[k];
    if (lane < K) {
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    }
    if (lane == 0) y[row] = sum;
}

void solve(const float* A, const float* x, float* y, int M, int K) {
    sgemv<<<(M + 7) / 8, 256>>>(A, x, y, M, K);
}
