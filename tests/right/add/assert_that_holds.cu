// An assert and a printf that guard against what can't happen.
// Right, because they never fire; and the format string and the arguments cost the answer nothing.
#include <cassert>
#include <cstdio>

__global__ void add(const float* a, const float* b, float* c, int n) {
    assert(blockDim.x * gridDim.x >= n && blockDim.y == 1);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 0) printf("block %d, thread %d: negative index %d\n", blockIdx.x, threadIdx.x, i);
    if (i < n) {
        float sum = a[i] + b[i];
        if (sum != sum) printf("%s: %g + %g\n", "not a number", a[i], b[i]);
        c[i] = sum;
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
