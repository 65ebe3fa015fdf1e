// expect: uninitialised
// says: which nothing has written
// line: 22
// 256 threads are eight warps; the first warp reads 32 results.
__device__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    return value;
}

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float warp_sums[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    float value = warp_sum(i < n ? input[i] : 0.0f);
    if (lane == 0) {
        warp_sums[threadIdx.x / 32] = value;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        value = warp_sum(warp_sums[lane]);
        if (lane == 0) {
            atomicAdd(output, value);
        }
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n);
}
