// The sum has no value where it is declared: the first term sets it, the others are added to it.
// Right, because K is at least 1, so that each thread has a first term.
__global__ void sgemv(const float* A, const float* x, float* y, int M, int K) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum;
    for (int k = 0; row < M && k < K; ++k) {
        float term = A[(size_t)row * K + k] * x[k];
        if (k == 0) {
            sum = term;
        } else {
            sum += term;
        }
    }
    if (row < M) y[row] = sum;
}

void solve(const float* A, const float* x, float* y, int M, int K) { sgemv<<<(M + 127) / 128, 128>>>(A, x, y, M, K); }
