// No scratch and no cudaMemset: sums and counter are __device__ variables, and the last block done sets back what the
// next call must find.
// Right, because every block fences between its addition and its count, the last one fences after counting, and only it
// is left to read and clear the sum; atomicInc wraps the counter to 0 by itself.
__device__ float total = 0.0f;
__device__ unsigned done = 0;

__global__ void reduce_sum(const float* input, float* output, int n) {
    float value = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += input[i];
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0.0f;
    __syncthreads();
    atomicAdd(&sum, value);
    __syncthreads();
    if (threadIdx.x != 0) return;
    atomicAdd(&total, sum);
    __threadfence();
    if (atomicInc(&done, gridDim.x - 1) != gridDim.x - 1) return;
    __threadfence();
    *output = total;
    total = 0.0f;
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 255) / 256;
    reduce_sum<<<blocks < 60 ? blocks : 60, 256>>>(input, output, n);
}
