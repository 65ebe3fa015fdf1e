// expect: never_written
// says: as it did on entry
// The last block to arrive is taken to be number n / 256: where n is a multiple of 256, there is none of that number.
__device__ int arrived;

__global__ void forget() { arrived = 0; }

__global__ void reduce_sum(const float* input, float* output, float* sums, int n) {
    __shared__ float partial[256];
    __shared__ bool last;
    int thread = threadIdx.x;
    int i = blockIdx.x * 256 + thread;
    partial[thread] = i < n ? input[i] : 0.0f;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (thread < s) {
            partial[thread] += partial[thread + s];
        }
        __syncthreads();
    }
    if (thread == 0) {
        sums[blockIdx.x] = partial[0];
        __threadfence();
        last = atomicAdd(&arrived, 1) == n / 256;
    }
    __syncthreads();
    if (last && thread == 0) {
        __threadfence();
        float sum = 0.0f;
        for (int block = 0; block < gridDim.x; block++) {
            sum += ((volatile float*)sums)[block];
        }
        output[0] = sum;
    }
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 255) / 256;
    float* sums;
    cudaMalloc(&sums, blocks * sizeof(float));
    forget<<<1, 1>>>();
    reduce_sum<<<blocks, 256>>>(input, output, sums, n);
    cudaFree(sums);
}
