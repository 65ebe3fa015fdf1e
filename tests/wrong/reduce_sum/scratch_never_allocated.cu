// expect: null_pointer
// says: writes 4 bytes at address
// line: 17
// The partial sums go where a pointer points that nobody gave memory; cudaFree would refuse it too.
__global__ void partial_sums(const float* in, float* out, int n) {
    __shared__ float sums[256];
    int thread = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + thread; i < n; i += gridDim.x * 256) sum += in[i];
    sums[thread] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (thread < s) sums[thread] += sums[thread + s];
        __syncthreads();
    }
    if (thread == 0) {
        out[blockIdx.x] = sums[0];
    }
}

void solve(const float* input, float* output, int n) {
    float* partial;
    int blocks = (n + 255) / 256;
    blocks = blocks < 512 ? blocks : 512;
    partial_sums<<<blocks, 256>>>(input, partial, n);
    partial_sums<<<1, 256>>>(partial, output, blocks);
    cudaFree(partial);
}
