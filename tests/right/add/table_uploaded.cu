// solve uploads a table of its own to __constant__ memory, and offsets to scratch, before it launches.
// Right, because cudaMemcpy from plain host arrays is part of the stream's order; the kernel reads them by memcpy, bit
// by bit.
#include <cuda_runtime.h>

#include <cstring>

__constant__ float weights[4];

__global__ void add(const float* a, const float* b, float* c, const int* offsets, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 4 * 4 + offsets[threadIdx.x % 4];
    if (i >= n) return;
    unsigned bits;
    memcpy(&bits, &weights[i % 4], sizeof(bits));
    float weight = __uint_as_float(bits);
    c[i] = weight * a[i] + weight * b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    const float ones[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    const int order[4] = {2, 3, 1, 0};
    int* offsets;
    cudaMalloc(&offsets, sizeof(order));
    cudaMemcpyToSymbol(weights, ones, sizeof(ones));
    cudaMemcpy(offsets, order, sizeof(order), cudaMemcpyHostToDevice);
    add<<<(n + 255) / 256, 256>>>(a, b, c, offsets, n);
    cudaFree(offsets);
}
