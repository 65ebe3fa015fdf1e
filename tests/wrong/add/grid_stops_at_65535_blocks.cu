// expect: left_out
// says: only the first 16,776,960 of 33,554,432 elements of c are written
// The limit that a grid had on GPUs of before 2012, and nobody does the rest.
#include <cuda_runtime.h>

__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    int blocks = (n + 255) / 256;
    if (blocks > 65535) blocks = 65535;
    add<<<blocks, 256>>>(a, b, c, n);
}
