// expect: race
// says: race
// line: 26
// Warp 0 reads the other warps' sums without waiting for them.
__device__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    return value;
}

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float warp_sums[8];
    int i = blockIdx.x * 256 + threadIdx.x;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    if (threadIdx.x < 8) {
        warp_sums[threadIdx.x] = 0.0f;
    }
    __syncthreads();
    float value = warp_sum(i < n ? input[i] : 0.0f);
    if (lane == 0) {
        warp_sums[warp] = value;
    }
    if (warp == 0) {
        value = warp_sum(lane < 8 ? warp_sums[lane] : 0.0f);
        if (lane == 0) {
            atomicAdd(output, value);
        }
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n);
}
