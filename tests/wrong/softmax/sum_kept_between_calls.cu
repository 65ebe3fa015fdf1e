// expect: second_call
// says: __device__ or static variable
// The sum is a global variable that starts at 0 for the first call only.
__device__ float sum = 0.0f;

__global__ void find_sum(const float* input, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&sum, expf(input[i] - input[0]));
    }
}

__global__ void normalise(const float* input, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        output[i] = expf(input[i] - input[0]) / sum;
    }
}

void solve(const float* input, float* output, int n) {
    int grid = (n + 255) / 256;
    find_sum<<<grid, 256>>>(input, n);
    normalise<<<grid, 256>>>(input, output, n);
}
