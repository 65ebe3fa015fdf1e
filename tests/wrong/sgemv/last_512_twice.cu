// expect: factor
// says: 2 times what is expected
// Where K is a multiple of 512, nothing is left for the tail, and the tail is taken all the same.
__global__ void sgemv(const float* A, const float* x, float* y, int M, int K) {
    int row = blockIdx.x;
    const float* a = A + (size_t)row * K;
    int whole = K / 512 * 512;
    int tail = whole == K && K > 0 ? K - 512 : whole;
    float sum = 0.0f;
    for (int k = threadIdx.x; k < whole; k += 32) {
        sum += a[k] * x[k];
    }
    for (int k = tail + threadIdx.x; k < K; k += 32) {
        sum += a[k] * x[k];
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    }
    if (threadIdx.x == 0) {
        y[row] = sum;
    }
}

void solve(const float* A, const float* x, float* y, int M, int K) {
    sgemv<<<M, 32>>>(A, x, y, M, K);
}
