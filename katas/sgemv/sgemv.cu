// y = A x, where A is M x K:
// y[i] = A[i * K + 0] * x[0] + ... + A[i * K + K - 1] * x[K - 1]
// The question: kata show sgemv. When ready: kata check sgemv

__global__ void sgemv(const float* A, const float* x, float* y, int M, int K) {
    // Your kernel here.
}

// All pointers are device pointers. Choose a grid and a block, and launch.
void solve(const float* A, const float* x, float* y, int M, int K) {
}
