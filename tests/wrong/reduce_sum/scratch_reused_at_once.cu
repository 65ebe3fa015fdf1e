// expect: race
// says: race
// line: 18
// The second block_sum overwrites warp sums that warp 0 may still be reading from the first.
__device__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    return value;
}

__device__ float block_sum(float value) {
    __shared__ float warp_sums[8];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    value = warp_sum(value);
    if (lane == 0) {
        warp_sums[warp] = value;
    }
    __syncthreads();
    if (warp == 0) {
        value = warp_sum(lane < 8 ? warp_sums[lane] : 0.0f);
    }
    return value;
}

__global__ void reduce_sum(const float* input, float* output, int n) {
    float even = 0.0f;
    float odd = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) {
        (i % 2 ? odd : even) += input[i];
    }
    even = block_sum(even);
    odd = block_sum(odd);
    if (threadIdx.x == 0) {
        output[0] = even + odd;
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<1, 256>>>(input, output, n);
}
