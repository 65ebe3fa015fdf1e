// Signs are packed into one bit an element, set by atomicOr from 32 threads into one word of scratch.
// Right, because cudaMemset clears the words first, and a second kernel, which waits for the first, reads them.
#include <cuda_runtime.h>

__global__ void mark(const float* x, unsigned* mask, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f) atomicOr(&mask[i / 32], 1u << i % 32);
}

__global__ void choose(const float* x, const unsigned* mask, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = mask[i / 32] >> i % 32 & 1 ? x[i] : 0.0f;
}

void solve(const float* x, float* y, int n) {
    int words = (n + 31) / 32, blocks = (n + 191) / 192;
    unsigned* mask;
    cudaMalloc(&mask, words * sizeof(unsigned));
    cudaMemset(mask, 0, words * sizeof(unsigned));
    mark<<<blocks, 192>>>(x, mask, n);
    choose<<<blocks, 192>>>(x, mask, y, n);
    cudaFree(mask);
}
