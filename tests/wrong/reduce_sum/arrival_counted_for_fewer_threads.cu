// expect: barrier
// says: threads
// line: 7
// Producers arrive at a barrier of 64 threads where the consumers wait for 128 at the same one.
constexpr int kHalf = 64, kThreads = 2 * kHalf, kShare = 4 * kHalf;

__device__ void wait(int barrier) { asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory"); }
__device__ void arrive(int barrier) { asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(kHalf) : "memory"); }

// Barriers 1 and 2: buffer 0 and 1 is full. 3 and 4: it is free.
__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float buffers[2][kShare];
    int thread = threadIdx.x % kHalf, stride = gridDim.x * kShare;
    float value = 0.0f;
    int round = 0;
    for (int start = blockIdx.x * kShare; start < n; start += stride, ++round) {
        float* buffer = buffers[round % 2];
        if (threadIdx.x < kHalf) {
            if (round >= 2) wait(3 + round % 2);
            for (int k = thread; k < kShare; k += kHalf) buffer[k] = start + k < n ? input[start + k] : 0.0f;
            __threadfence_block();
            arrive(1 + round % 2);
        } else {
            wait(1 + round % 2);
            for (int k = 0; k < 4; ++k) value += buffer[4 * thread + k];  // what four different producers wrote
            if (start + 2 * stride < n) arrive(3 + round % 2);
        }
    }
    for (int by = 16; by > 0; by /= 2) value += __shfl_xor_sync(0xffffffffu, value, by);
    if (threadIdx.x >= kHalf && thread % 32 == 0) atomicAdd(output, value);
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + kShare - 1) / kShare;
    reduce_sum<<<blocks < 150 ? blocks : 150, kThreads>>>(input, output, n);
}
