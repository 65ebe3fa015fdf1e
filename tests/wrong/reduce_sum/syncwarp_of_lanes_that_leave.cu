// expect: missing_lanes
// says: named in the mask
// line: 15
// Half a warp meets at __syncwarp(), which waits for all 32 lanes; the other half has gone to add up and leaves.
__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float sums[32];
    float value = 0.0f;
    for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += gridDim.x * 32) value += input[i];
    if (threadIdx.x >= 16) {
        atomicAdd(output, value);
        return;
    }
    sums[threadIdx.x] = value;
    for (int by = 8; by > 0; by /= 2) {
        __syncwarp();
        if (threadIdx.x < by) sums[threadIdx.x] += sums[threadIdx.x + by];
    }
    if (threadIdx.x == 0) atomicAdd(output, sums[0]);
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<8, 32>>>(input, output, n);
}
