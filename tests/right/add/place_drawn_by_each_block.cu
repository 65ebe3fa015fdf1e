// A block's place in the arrays is the number that it draws, not its own.
// Right, because the counter starts at 0 in each call and as many are drawn as there are blocks.
#include <cuda_runtime.h>

__global__ void add(const float* a, const float* b, float* c, unsigned* turn, int n) {
    __shared__ unsigned mine;
    if (threadIdx.x == 0) mine = atomicAdd(turn, 1u);
    __syncthreads();
    if (mine >= gridDim.x) __trap();
    int i = mine * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    unsigned* turn;
    cudaMalloc(&turn, sizeof(unsigned));
    cudaMemset(turn, 0, sizeof(unsigned));
    add<<<(n + 255) / 256, 256>>>(a, b, c, turn, n);
    cudaFree(turn);
}
