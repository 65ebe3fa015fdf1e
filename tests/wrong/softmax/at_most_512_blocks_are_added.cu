// expect: factor
// says: times what is expected
// A block of 512 adds up the sums of the blocks, one a thread: those of all blocks, up to 131,072 elements.
#include <math.h>

__device__ float joined(float* values, int threads, bool largest) {
    for (int s = threads / 2; s > 0; s /= 2) {
        __syncthreads();
        if (threadIdx.x < s) {
            float other = values[threadIdx.x + s];
            values[threadIdx.x] = largest ? fmaxf(values[threadIdx.x], other) : values[threadIdx.x] + other;
        }
    }
    __syncthreads();
    float result = values[0];
    __syncthreads();
    return result;
}

__global__ void maximum_and_sum(const float* input, float* maxima, float* sums, int n) {
    __shared__ float scratch[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    float x = i < n ? input[i] : -INFINITY;
    scratch[threadIdx.x] = x;
    float most = joined(scratch, 256, true);
    scratch[threadIdx.x] = x == -INFINITY ? 0.0f : expf(x - most);
    float sum = joined(scratch, 256, false);
    if (threadIdx.x == 0) {
        maxima[blockIdx.x] = most;
        sums[blockIdx.x] = sum;
    }
}

__global__ void normalise(const float* input, float* output, const float* maxima, const float* sums, int n, int blocks) {
    __shared__ float scratch[512];
    float most = threadIdx.x < blocks ? maxima[threadIdx.x] : -INFINITY;
    scratch[threadIdx.x] = most;
    float top = joined(scratch, 512, true);
    scratch[threadIdx.x] = most == -INFINITY ? 0.0f : sums[threadIdx.x] * expf(most - top);
    float sum = joined(scratch, 512, false);
    int i = blockIdx.x * 512 + threadIdx.x;
    if (i < n) {
        output[i] = expf(input[i] - top) / sum;
    }
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 255) / 256;
    float *maxima, *sums;
    cudaMalloc(&maxima, blocks * sizeof(float));
    cudaMalloc(&sums, blocks * sizeof(float));
    maximum_and_sum<<<blocks, 256>>>(input, maxima, sums, n);
    normalise<<<(n + 511) / 512, 512>>>(input, output, maxima, sums, n, blocks);
    cudaFree(maxima);
    cudaFree(sums);
}
