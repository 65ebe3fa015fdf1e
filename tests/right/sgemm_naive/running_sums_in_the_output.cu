// C is read and written in every step of the loop over K, in global memory, through a volatile pointer.
// Right, because each element is one thread's own, from its first store of 0 to its last.
__global__ void sgemm(const float* A, const float* B, volatile float* C, int M, int N, int K) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < M * N; i += gridDim.x * blockDim.x) {
        int row = i / N, col = i % N;
        C[i] = 0.0f;
        for (int k = 0; k < K; ++k) C[i] = C[i] + A[row * K + k] * B[k * N + col];
    }
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    int blocks = (M * N + 127) / 128;
    sgemm<<<blocks < 1000 ? blocks : 1000, 128>>>(A, B, C, M, N, K);
}
