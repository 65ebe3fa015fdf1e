// The maximum is taken of unsigned integers: floats mapped so that they are ordered as their bits, then
// __reduce_max_sync in the warp, atomicMax in shared and in global memory.
// Right for negative values and -inf too, because the map flips all bits of a negative float, and the sign of a
// positive one; 0 is below the image of every float, so cleared memory is the neutral element.
#include <cuda_runtime.h>

struct Total {
    unsigned highest;
    float sum;
};

__device__ unsigned ordered(float x) {
    unsigned bits = __float_as_uint(x);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ float original(unsigned key) {
    return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

__global__ void find_highest(const float* input, Total* total, int n) {
    __shared__ unsigned highest;
    if (threadIdx.x == 0) highest = 0;
    __syncthreads();
    unsigned key = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        key = max(key, ordered(input[i]));
    }
    key = __reduce_max_sync(0xffffffffu, key);
    if (threadIdx.x % 32 == 0) atomicMax(&highest, key);
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(&total->highest, highest);
}

__global__ void add_up(const float* input, Total* total, int n) {
    float highest = original(total->highest), sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += expf(input[i] - highest);
    }
    for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
    if (threadIdx.x % 32 == 0) atomicAdd(&total->sum, sum);
}

__global__ void normalise(const float* input, float* output, const Total* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) output[i] = expf(input[i] - original(total->highest)) / total->sum;
}

void solve(const float* input, float* output, int n) {
    Total* total;
    cudaMalloc(&total, sizeof(Total));
    cudaMemset(total, 0, sizeof(Total));
    find_highest<<<32, 128>>>(input, total, n);
    add_up<<<32, 128>>>(input, total, n);
    normalise<<<(n + 127) / 128, 128>>>(input, output, total, n);
    cudaFree(total);
}
