// C = A B, where A is M x K, B is K x N and C is M x N, all row-major
// The question: kata show sgemm_naive. When ready: kata check sgemm_naive

__global__ void sgemm(const float* A, const float* B, float* C,
                      int M, int N, int K) {
    // Your kernel here.
}

// All pointers are device pointers. Choose a grid and a block, and launch.
void solve(const float* A, const float* B, float* C, int M, int N, int K) {
}
