// Two passes through scratch memory from cudaMallocAsync, one launch for each, in the middle of a larger allocation.
// Right, because a pointer into an allocation is as good as its start; the bytes around are never touched.
#include <cuda_runtime.h>

__global__ void spread(const float* input, float* scratch, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) scratch[i / cols + rows * (cols - 1 - i % cols)] = input[i];
}

__global__ void reverse(const float* scratch, float* output, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) output[i] = scratch[(cols - 1 - i / rows) * rows + i % rows];
}

void solve(const float* input, float* output, int rows, int cols) {
    float* scratch;
    int count = rows * cols, spare = 1000;
    cudaStream_t stream = 0;
    cudaMallocAsync(&scratch, (count + 2 * spare) * sizeof(float), stream);
    spread<<<(count + 255) / 256, 256, 0, stream>>>(input, scratch + spare, rows, cols);
    reverse<<<(count + 255) / 256, 256, 0, stream>>>(scratch + spare, output, rows, cols);
    cudaFreeAsync(scratch, stream);
}
