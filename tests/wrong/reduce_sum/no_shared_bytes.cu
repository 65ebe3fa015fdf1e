// expect: out_of_bounds
// says: past the end of sums (0 bytes)
// line: 10
// The array's size is the launch's to give, and the launch has no third argument.
__global__ void reduce_sum(const float* input, float* output, int n) {
    extern __shared__ float sums[];
    int thread = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + thread; i < n; i += gridDim.x * blockDim.x) sum += input[i];
    sums[thread] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (thread < s) sums[thread] += sums[thread + s];
        __syncthreads();
    }
    if (thread == 0) atomicAdd(output, sums[0]);
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<256, 256>>>(input, output, n);
}
