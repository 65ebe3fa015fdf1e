// Blocks of three warps, whose sums the first three lanes of the first warp add by shuffles with a mask of three.
// Right, because the mask names just the lanes that are in the branch, and lane 0 reads lanes 1 and 2 only.
__device__ float warp_sum(float value) {
    for (int by = 16; by > 0; by /= 2) value += __shfl_down_sync(0xffffffffu, value, by);
    return value;
}

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float sums[3];
    float value = 0.0f;
    for (int i = blockIdx.x * 96 + threadIdx.x; i < n; i += gridDim.x * 96) value += input[i];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 3) {
        float mine = sums[threadIdx.x];
        float second = __shfl_sync(0b111u, mine, 1), third = __shfl_sync(0b111u, mine, 2);
        if (threadIdx.x == 0) atomicAdd(output, mine + second + third);
    }
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 95) / 96;
    reduce_sum<<<blocks < 200 ? blocks : 200, 96>>>(input, output, n);
}
