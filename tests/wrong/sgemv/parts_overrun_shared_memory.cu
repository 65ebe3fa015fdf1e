// expect: out_of_bounds
// says: shared
// line: 13
// Four words for the sums of eight warps.
__global__ void sgemv(const float* A, const float* x, float* y, int M, int K) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.x;
    __shared__ float part[4];
    const float* a = A + (size_t)row * K;
    float sum = 0.0f;
    for (int k = threadIdx.x; k < K; k += 256) sum += a[k] * x[k];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++) sum += part[w];
        y[row] = sum;
    }
}

void solve(const float* A, const float* x, float* y, int M, int K) {
    sgemv<<<M, 256>>>(A, x, y, M, K);
}
