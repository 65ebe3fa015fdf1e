// Persistent blocks take chunks from a queue: a __device__ counter that thread 0 of each block counts up.
// Right, because a barrier hands the ticket on, a second one keeps it till all have read it, and the block that leaves
// last sets both counters back for the next call.
constexpr int kChunk = 1024;

__device__ int next_chunk = 0;
__device__ unsigned blocks_left = 0;

__global__ void add(const float* a, const float* b, float* c, int n) {
    __shared__ int chunk;
    for (;;) {
        if (threadIdx.x == 0) chunk = atomicAdd(&next_chunk, 1);
        __syncthreads();
        int start = chunk * kChunk;
        __syncthreads();
        if (start >= n) break;
        for (int i = start + threadIdx.x; i < min(start + kChunk, n); i += blockDim.x) c[i] = a[i] + b[i];
    }
    // Nobody takes a ticket any more once the last block is here.
    if (threadIdx.x == 0 && atomicInc(&blocks_left, gridDim.x - 1) == gridDim.x - 1) atomicExch(&next_chunk, 0);
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<40, 256>>>(a, b, c, n);
}
