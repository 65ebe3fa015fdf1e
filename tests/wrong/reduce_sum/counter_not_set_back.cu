// expect: second_call
// says: __device__ or static variable
// The last block done finishes, but the count of blocks goes on from call to call.
constexpr int kBlock = 256;
constexpr int kBlocks = 64;

__device__ float block_sums[kBlocks];
__device__ unsigned blocks_done = 0;

__device__ float block_sum(float value) {
    __shared__ float partial[kBlock];
    int thread = threadIdx.x;
    __syncthreads();
    partial[thread] = value;
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s /= 2) {
        if (thread < s) {
            partial[thread] += partial[thread + s];
        }
        __syncthreads();
    }
    return partial[0];
}

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ bool is_last;
    float value = 0.0f;
    for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += kBlocks * kBlock) {
        value += input[i];
    }
    value = block_sum(value);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = value;
        __threadfence();
        is_last = atomicAdd(&blocks_done, 1) == kBlocks - 1;
    }
    __syncthreads();
    if (is_last) {
        __threadfence();
        value = block_sum(threadIdx.x < kBlocks ? block_sums[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0) {
            output[0] = value;
        }
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<kBlocks, kBlock>>>(input, output, n);
}
