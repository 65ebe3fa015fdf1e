// expect: nan
// says: NaN
// As signed integers the bits of negative floats sort the wrong way round.
__global__ void find_max(const float* input, int* max, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicMax(max, __float_as_int(input[i]));
    }
}

__global__ void find_sum(const float* input, const float* max, float* sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(sum, expf(input[i] - *max));
    }
}

__global__ void normalise(const float* input, const float* max, const float* sum, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        output[i] = expf(input[i] - *max) / *sum;
    }
}

void solve(const float* input, float* output, int n) {
    int grid = (n + 255) / 256;
    float* scratch;
    cudaMalloc(&scratch, 2 * sizeof(float));
    cudaMemcpy(scratch, input, sizeof(float), cudaMemcpyDeviceToDevice);
    cudaMemset(scratch + 1, 0, sizeof(float));
    find_max<<<grid, 256>>>(input, reinterpret_cast<int*>(scratch), n);
    find_sum<<<grid, 256>>>(input, scratch, scratch + 1, n);
    normalise<<<grid, 256>>>(input, scratch, scratch + 1, output, n);
    cudaFree(scratch);
}
