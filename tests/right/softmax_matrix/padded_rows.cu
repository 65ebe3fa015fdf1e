// Rows are copied to scratch whose pitch is a multiple of four, and read from there as float4: the padding at a row's
// end is read with the rest, and nobody ever wrote it.
// Right, because what comes from the padding is dropped, element by element, before it counts.
#include <cuda_runtime.h>

__global__ void widen(const float* input, float* padded, int rows, int cols, int pitch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) padded[i / cols * pitch + i % cols] = input[i];
}

__global__ void softmax(const float4* padded, float* output, int rows, int cols, int pitch) {
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    const float4* from = padded + static_cast<size_t>(row) * (pitch / 4);
    float highest = -INFINITY, sum = 0.0f;
    for (int quad = lane; 4 * quad < cols; quad += 32) {
        float4 v = from[quad];
        int left = cols - 4 * quad;
        highest = fmaxf(highest, v.x);
        if (left > 1) highest = fmaxf(highest, v.y);
        if (left > 2) highest = fmaxf(highest, v.z);
        if (left > 3) highest = fmaxf(highest, v.w);
    }
    for (int by = 16; by > 0; by /= 2) highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, by));
    for (int quad = lane; 4 * quad < cols; quad += 32) {
        float4 v = from[quad];
        int left = cols - 4 * quad;
        sum += expf(v.x - highest);
        sum += left > 1 ? expf(v.y - highest) : 0.0f;
        sum += left > 2 ? expf(v.z - highest) : 0.0f;
        sum += left > 3 ? expf(v.w - highest) : 0.0f;
    }
    for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
    const float* scalars = reinterpret_cast<const float*>(from);
    for (int c = lane; c < cols; c += 32) output[static_cast<size_t>(row) * cols + c] = expf(scalars[c] - highest) / sum;
}

void solve(const float* input, float* output, int rows, int cols) {
    int pitch = (cols + 3) / 4 * 4;
    float* padded;
    cudaMalloc(&padded, static_cast<size_t>(rows) * pitch * sizeof(float));
    widen<<<(rows * cols + 255) / 256, 256>>>(input, padded, rows, cols, pitch);
    softmax<<<(rows + 3) / 4, dim3(32, 4)>>>(reinterpret_cast<const float4*>(padded), output, rows, cols, pitch);
    cudaFree(padded);
}
