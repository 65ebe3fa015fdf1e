// Rung 3: interleaved tree, working threads packed together
//
// Changes: thread t works on element 2s * t, so the busy threads of a step are the first ones.
// Removes: the divergence and the modulo: whole warps work or skip.
// Still costs: bank conflicts. Neighbouring lanes touch words 2s apart, so at s = 1 two lanes
// share a bank, at s = 2 four, and so on: the accesses of a warp go one after another.

constexpr int kBlock = 512;

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float partial[kBlock];
    int thread = threadIdx.x;
    int i = blockIdx.x * kBlock + thread;
    partial[thread] = i < n ? input[i] : 0.0f;
    __syncthreads();

    for (int s = 1; s < blockDim.x; s *= 2) {
        int at = 2 * s * thread;
        if (at < blockDim.x) {
            partial[at] += partial[at + s];
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
