// expect: out_of_bounds
// says: past the end of scratch
// line: 18
// A lane counts its peers with itself among them: places are one too high, the last of them beyond the scratch.
#include <cuda_runtime.h>

__global__ void pack(const float* x, float* packed, int* from, int* size, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    float value = i < n ? x[i] : 0.0f;
    int positive = value > 0.0f;
    int count = __reduce_add_sync(0xffffffffu, positive);
    unsigned peers = __match_any_sync(0xffffffffu, positive);
    int start = 0;
    if (lane == 0) start = atomicAdd(size, count);
    start = __shfl_sync(0xffffffffu, start, 0);
    if (!positive) return;
    int place = start + __popc(peers & ((2u << lane) - 1));
    packed[place] = value;
    from[place] = i;
}

__global__ void clear(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.0f;
}

__global__ void spread(const float* packed, const int* from, const int* size, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < *size) y[from[i]] = packed[i];
}

void solve(const float* x, float* y, int n) {
    float* packed;
    int *from, *size;
    cudaMalloc(&packed, n * sizeof(float));
    cudaMalloc(&from, n * sizeof(int));
    cudaMalloc(&size, sizeof(int));
    cudaMemset(size, 0, sizeof(int));
    int blocks = (n + 127) / 128;
    pack<<<blocks, 128>>>(x, packed, from, size, n);
    clear<<<blocks, 128>>>(y, n);
    spread<<<blocks, 128>>>(packed, from, size, y);
    cudaFree(size);
    cudaFree(from);
    cudaFree(packed);
}
