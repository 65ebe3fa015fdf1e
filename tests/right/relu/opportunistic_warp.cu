// Inside a branch, whichever lanes happen to run together share one atomicAdd: __activemask says which these are.
// Right for any answer that it may give, because each group that forms takes places for its own members, and nothing
// assumes that all lanes of the branch are in it.
#include <cuda_runtime.h>

__device__ int take_place(int* length) {
    unsigned together = __activemask();
    int lane = threadIdx.x % 32, leader = __ffs(together) - 1, start = 0;
    if (lane == leader) start = atomicAdd(length, __popc(together));
    start = __shfl_sync(together, start, leader);
    return start + __popc(together & ((1u << lane) - 1));
}

__global__ void append(const float* x, float* y, int* list, int* length, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = 0.0f;
    if (x[i] > 0.0f) list[take_place(length)] = i;
}

__global__ void keep(const float* x, float* y, const int* list, const int* length) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < *length) y[list[k]] = x[list[k]];
}

void solve(const float* x, float* y, int n) {
    int *list, *length, blocks = (n + 127) / 128;
    cudaMalloc(&list, n * sizeof(int));
    cudaMalloc(&length, sizeof(int));
    cudaMemset(length, 0, sizeof(int));
    append<<<blocks, 128>>>(x, y, list, length, n);
    keep<<<blocks, 128>>>(x, y, list, length);
    cudaFree(length);
    cudaFree(list);
}
