// The compare-and-swap loop starts from a plain read of a word that others change: the swap finds out if it was stale,
// and a maximum only grows, so a stale value larger than ours is reason enough to stop.
__device__ void atomic_max(float* address, float value) {
    int* word = reinterpret_cast<int*>(address);
    int seen = *word;
    while (value > __int_as_float(seen)) {
        int assumed = seen;
        seen = atomicCAS(word, assumed, __float_as_int(value));
        if (seen == assumed) {
            return;
        }
    }
}

__global__ void find_max(const float* input, float* max, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomic_max(max, input[i]);
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
    find_max<<<grid, 256>>>(input, scratch, n);
    find_sum<<<grid, 256>>>(input, scratch, scratch + 1, n);
    normalise<<<grid, 256>>>(input, scratch, scratch + 1, output, n);
    cudaFree(scratch);
}
