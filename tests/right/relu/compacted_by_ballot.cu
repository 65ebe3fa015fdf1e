// Positions of the positive elements are appended to a list in no fixed order, one atomicAdd a warp: the lanes that
// have one are counted by __ballot_sync, and the first of them hands out places.
// Right, because the ballot is taken before the branch, by all lanes, and the shuffle inside names just those that
// entered.
#include <cuda_runtime.h>

__global__ void append(const float* x, float* y, int* list, int* length, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? x[i] : 0.0f;
    if (i < n) y[i] = 0.0f;
    unsigned positive = __ballot_sync(0xffffffffu, value > 0.0f);
    if (value > 0.0f) {
        int lane = threadIdx.x % 32, leader = __ffs(positive) - 1;
        int start = 0;
        if (lane == leader) start = atomicAdd(length, __popc(positive));
        start = __shfl_sync(positive, start, leader);
        list[start + __popc(positive & ((1u << lane) - 1))] = i;
    }
}

__global__ void scatter(const float* x, float* y, const int* list, const int* length) {
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < *length; k += gridDim.x * blockDim.x) {
        y[list[k]] = x[list[k]];
    }
}

void solve(const float* x, float* y, int n) {
    int* list;  // the length, then the list: as much of it is written as there are positive elements
    cudaMalloc(&list, (n + 1) * sizeof(int));
    cudaMemset(list, 0, sizeof(int));
    append<<<(n + 255) / 256, 256>>>(x, y, list + 1, list, n);
    scatter<<<64, 256>>>(x, y, list + 1, list);
    cudaFree(list);
}
