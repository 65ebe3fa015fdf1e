// expect: barrier
// says: barrier 1
// line: 16
// Each half of the block means its own barrier of 128 threads, but both name number 1.
constexpr int kHalf = 128;

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float sums[2][kHalf];
    int half = threadIdx.x / kHalf, thread = threadIdx.x % kHalf;
    float value = 0.0f;
    for (int i = blockIdx.x * 2 * kHalf + threadIdx.x; i < n; i += gridDim.x * 2 * kHalf) value += input[i];
    float* mine = sums[half];
    mine[thread] = value;
    for (int by = kHalf / 2; by > 0; by /= 2) {
        if (half == 0) {
            asm volatile("bar.sync 1, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 128;" ::: "memory");
        }
        if (thread < by) mine[thread] += mine[thread + by];
    }
    __syncthreads();
    if (threadIdx.x == kHalf) atomicAdd(output, sums[0][0] + sums[1][0]);
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 255) / 256;
    reduce_sum<<<blocks < 64 ? blocks : 64, 2 * kHalf>>>(input, output, n);
}
