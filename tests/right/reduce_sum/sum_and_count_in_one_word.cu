// Blocks add their sum and count themselves by one compare-and-swap of 64 bits: the count above, the float below.
// Right without any fence, because what is handed on is inside the word that is swapped. Whoever makes the count full
// holds the total.
#include <cuda_runtime.h>

__global__ void reduce_sum(const float* input, float* output, unsigned long long* word, int n) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0.0f;
    __syncthreads();
    float value = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += input[i];
    atomicAdd(&sum, value);
    __syncthreads();
    if (threadIdx.x != 0) return;
    unsigned long long seen = *static_cast<volatile unsigned long long*>(word), expected, mine;
    do {
        expected = seen;
        float total = __uint_as_float(static_cast<unsigned>(expected)) + sum;
        mine = ((expected >> 32) + 1) << 32 | __float_as_uint(total);
        seen = atomicCAS(word, expected, mine);
    } while (seen != expected);
    if (mine >> 32 == gridDim.x) *output = __uint_as_float(static_cast<unsigned>(mine));
}

void solve(const float* input, float* output, int n) {
    unsigned long long* word;
    cudaMalloc(&word, sizeof(*word));
    cudaMemset(word, 0, sizeof(*word));
    int blocks = (n + 255) / 256;
    reduce_sum<<<blocks < 64 ? blocks : 64, 256>>>(input, output, word, n);
    cudaFree(word);
}
