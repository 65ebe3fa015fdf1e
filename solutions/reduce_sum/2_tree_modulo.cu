// Rung 2: shared-memory tree, interleaved with modulo
//
// Changes: each block sums its 512 elements as a tree in shared memory; only its total goes to
// the result.
// Removes: 511 of every 512 atomics.
// Still costs: divergence. In step s only every 2s-th thread works, but those are spread over
// all warps: nearly every warp runs every step with few lanes busy. The modulo costs
// instructions, and each of nine steps waits at a barrier.

constexpr int kBlock = 512;

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float partial[kBlock];
    int thread = threadIdx.x;
    int i = blockIdx.x * kBlock + thread;
    partial[thread] = i < n ? input[i] : 0.0f;
    __syncthreads();

    for (int s = 1; s < blockDim.x; s *= 2) {
        if (thread % (2 * s) == 0) {
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
