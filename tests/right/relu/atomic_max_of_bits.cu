// The output is set to 0 and then raised by atomicMax on its bits, taken as signed integers.
// Right for relu, if not for a maximum in general: a negative float is a negative integer, which never beats 0, and
// positive floats are ordered as their bits.
#include <cuda_runtime.h>

__global__ void relu(const float* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax(&y[i], __float_as_int(x[i]));
}

void solve(const float* x, float* y, int n) {
    cudaMemset(y, 0, n * sizeof(float));
    relu<<<(n + 255) / 256, 256>>>(x, reinterpret_cast<int*>(y), n);
}
