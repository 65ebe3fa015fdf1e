// expect: left_out
// says: it never writes 8,388,608 of 33,554,432 elements of c: c[16777217] is the first
// A float has 24 bits: from 2^24 on it holds even numbers only, so two threads meet on each of these elements.
#include <cuda_runtime.h>

__global__ void add(const float* a, const float* b, float* c, float n) {
    float i = (float)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[(int)i] = a[(int)i] + b[(int)i];
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, (float)n);
}
