// expect: uninitialised
// says: scratch[1], which nothing has written
// line: 24
// Block 0 waits until both blocks have arrived, but the count is never set back: in the second call it is there at once, and
// block 0 reads a part that the other block may not have written yet.
__device__ unsigned arrived;

__global__ void add_up(const float* input, float* parts, float* output, int n) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0.0f;
    __syncthreads();
    float mine = 0.0f;
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) mine += input[i];
    atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x != 0) return;
    parts[blockIdx.x] = sum;
    __threadfence();
    atomicAdd(&arrived, 1u);
    if (blockIdx.x == 0) {
        while (atomicAdd(&arrived, 0u) < 2) {
        }
        __threadfence();
        *output = parts[0] + parts[1];
    }
}

void solve(const float* input, float* output, int n) {
    float* parts;
    cudaMalloc(&parts, 2 * sizeof(float));
    add_up<<<2, 64>>>(input, parts, output, n);
    cudaFree(parts);
}
