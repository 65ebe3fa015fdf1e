// expect: misaligned
// says: 16
// line: 12
// Rows start on 16 bytes only when K is a multiple of 4.
__global__ void sgemv(const float* A, const float* x, float* y, int M, int K) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= M) return;
    const float* a = A + (size_t)row * K;
    float sum = 0.0f;
    for (int i = lane; i < K / 4; i += 32) {
        float4 v = reinterpret_cast<const float4*>(a)[i];
        float4 w = reinterpret_cast<const float4*>(x)[i];
        sum += v.x * w.x + v.y * w.y + v.z * w.z + v.w * w.w;
    }
    for (int k = K / 4 * 4 + lane; k < K; k += 32) sum += a[k] * x[k];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0) y[row] = sum;
}

void solve(const float* A, const float* x, float* y, int M, int K) {
    sgemv<<<(M + 7) / 8, 256>>>(A, x, y, M, K);
}
