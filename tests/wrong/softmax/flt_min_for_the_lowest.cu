// expect: nan
// says: NaN
// FLT_MIN is the smallest positive float: the maximum of negative values comes out as 1e-38.
#include <cfloat>

__device__ float block_reduce(float value, bool is_max) {
    __shared__ float results[32];
    __syncthreads();
    for (int offset = 16; offset > 0; offset /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, value, offset);
        value = is_max ? fmaxf(value, other) : value + other;
    }
    if (threadIdx.x % 32 == 0) {
        results[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = results[threadIdx.x % 32];
    for (int offset = 16; offset > 0; offset /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, value, offset);
        value = is_max ? fmaxf(value, other) : value + other;
    }
    return value;
}

__global__ void softmax(const float* input, float* output, int n) {
    float max = FLT_MIN;
    for (int i = threadIdx.x; i < n; i += 1024) {
        max = fmaxf(max, input[i]);
    }
    max = block_reduce(max, true);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 1024) {
        sum += expf(input[i] - max);
    }
    sum = block_reduce(sum, false);
    for (int i = threadIdx.x; i < n; i += 1024) {
        output[i] = expf(input[i] - max) / sum;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 1024>>>(input, output, n);
}
