// expect: race
// says: race on total
// line: 21
// The total is cleared by the first block to count, not by the last.
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
    if (atomicInc(&done, gridDim.x - 1) != 0) return;
    __threadfence();
    *output = total;
    total = 0.0f;
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 255) / 256;
    reduce_sum<<<blocks < 60 ? blocks : 60, 256>>>(input, output, n);
}
