// The output begins as a copy of a, made by cudaMemcpyAsync, and the kernel reads it back to add b.
// Right, because copy and kernel are of one stream, and each thread reads only the element that it then writes.
#include <cuda_runtime.h>

__global__ void add_to(float* c, const float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] += b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    cudaMemcpyAsync(c, a, n * sizeof(float), cudaMemcpyDeviceToDevice, 0);
    add_to<<<(n + 127) / 128, 128>>>(c, b, n);
}
