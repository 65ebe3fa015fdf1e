// expect: out_of_bounds
// says: row[512]
// line: 12
// A row of A is kept in shared memory, which has room for 512 of its elements.
__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float row[512];
    int col = blockIdx.x * 128 + threadIdx.x;
    for (int i = blockIdx.y; i < M; i += gridDim.y) {
        __syncthreads();
        for (int k = threadIdx.x; k < K; k += 128) {
            // No look at whether k is below 512.
            row[k] = A[(size_t)i * K + k];
        }
        __syncthreads();
        if (col < N) {
            float sum = 0.0f;
            for (int k = 0; k < K; k++) {
                sum += row[k] * B[(size_t)k * N + col];
            }
            C[(size_t)i * N + col] = sum;
        }
    }
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 grid((N + 127) / 128, M < 4096 ? M : 4096);
    sgemm<<<grid, 128>>>(A, B, C, M, N, K);
}
