// Threads have unequal amounts of work, and the block goes on until __syncthreads_or says that nobody has any left.
// Right, because a thread that is done stays in the loop and keeps meeting the others at the barrier.
__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float slots[96];
    float total = 0.0f;
    int i = blockIdx.x * 96 + threadIdx.x;
    int step = gridDim.x * 96;
    while (__syncthreads_or(i < n)) {
        slots[threadIdx.x] = i < n ? input[i] : 0.0f;
        i += step;
        __syncthreads();
        total += slots[95 - threadIdx.x];
    }
    for (int by = 16; by > 0; by /= 2) total += __shfl_down_sync(0xffffffffu, total, by);
    if (threadIdx.x % 32 == 0) atomicAdd(output, total);
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<n < 7000 ? 3 : 120, 96>>>(input, output, n);
}
