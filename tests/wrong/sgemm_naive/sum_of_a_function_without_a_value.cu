// expect: uninitialised
// says: before it has a value
// line: 7
// A function of its own adds the products, to a sum that it never sets to 0.
__device__ __noinline__ float product(const float* row, const float* column, int stride, int count) {
    float sum;
    for (int k = 0; k < count; ++k) sum += row[k] * column[(size_t)k * stride];
    return sum;
}

__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row < M && column < N) C[(size_t)row * N + column] = product(A + (size_t)row * K, B + column, N, K);
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    sgemm<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K);
}
