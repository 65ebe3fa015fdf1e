// expect: every_nth | scattered | tail
// says: got
// Halving 96: 48, 24, 12, 6, 3, 1. From three partial sums only two are added.
constexpr int kBlock = 96;

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float partial[kBlock];
    int thread = threadIdx.x;
    int i = blockIdx.x * kBlock + thread;
    partial[thread] = i < n ? input[i] : 0.0f;
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s /= 2) {
        if (thread < s) {
            partial[thread] += partial[thread + s];
        }
        __syncthreads();
    }
    if (thread == 0) {
        atomicAdd(output, partial[0]);
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<(n + kBlock - 1) / kBlock, kBlock>>>(input, output, n);
}
