// Where each block's part ends is left in a __device__ array by a kernel of one block; from there, it is added backwards.
// Right, because launches run one after the other: the ends are there before a block looks them up.
#include <cuda_runtime.h>

constexpr int kParts = 128, kThreads = 256;

__device__ int last[kParts];

__device__ int start_of(int part, int n) {
    return (int)((long long)n * part / kParts);
}

__global__ void write_ends(int n) {
    last[threadIdx.x] = start_of(threadIdx.x + 1, n) - 1;
}

__global__ void add(const float* a, const float* b, float* c, int n) {
    int length = start_of(blockIdx.x + 1, n) - start_of(blockIdx.x, n), end = last[blockIdx.x];
    for (int back = threadIdx.x; back < length; back += kThreads) c[end - back] = a[end - back] + b[end - back];
}

void solve(const float* a, const float* b, float* c, int n) {
    write_ends<<<1, kParts>>>(n);
    add<<<kParts, kThreads>>>(a, b, c, n);
}
