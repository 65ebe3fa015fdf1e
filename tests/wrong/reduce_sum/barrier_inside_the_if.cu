// expect: barrier
// says: 16 of 32 lanes of warp 0 go around the __syncthreads() on line 14
// line: 14
// The barrier of the tree stands inside its `if`: from half a warp on, lanes of one warp wait there and lanes don't.
__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float partial[256];
    int thread = threadIdx.x;
    int i = blockIdx.x * 256 + thread;
    partial[thread] = i < n ? input[i] : 0.0f;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (thread < half) {
            partial[thread] += partial[thread + half];
            __syncthreads();
        }
    }
    if (thread == 0) atomicAdd(output, partial[0]);
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n);
}
