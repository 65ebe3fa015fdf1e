// Rung 5: first addition while loading
//
// Changes: each thread adds two elements before it touches shared memory; a block covers 1024
// elements.
// Removes: half of the blocks, with their barriers and their atomics; every thread now does at
// least one addition, and has two independent loads in flight.
// Still costs: a barrier for each of nine steps, even when one warp, or one lane, is all that is
// left to work.

constexpr int kBlock = 512;

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float partial[kBlock];
    int thread = threadIdx.x;
    int i = blockIdx.x * (2 * kBlock) + thread;
    float low = i < n ? input[i] : 0.0f;
    float high = i + kBlock < n ? input[i + kBlock] : 0.0f;
    partial[thread] = low + high;
    __syncthreads();

    for (int s = blockDim.x / 2; s > 0; s /= 2) {
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
    int per_block = 2 * kBlock;
    reduce_sum<<<(n + per_block - 1) / per_block, kBlock>>>(input, output, n);
}
