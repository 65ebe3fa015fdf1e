// Rung 3: One warp per row, butterfly shuffles
//
// A warp shares a row and reduces in registers: after five `__shfl_xor_sync` steps every lane holds the result.
// A lane has many columns to visit, so the loops are unrolled (eight independent loads in flight), and one division a
// row gives a factor for every element.
// Removes: shared memory and every barrier; a warp never waits for another.
// Still costs: three trips over the row, 4 bytes a load. Every warp walks a row of its own: with long rows the caches
// have forgotten its start when the next trip begins.
#include <cuda_runtime.h>

#include <cmath>

constexpr int kWarpsPerBlock = 8;
constexpr unsigned kAllLanes = 0xffffffff;

__device__ float warp_max(float value) {
    for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, step));
    return value;
}

__device__ float warp_sum(float value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
    return value;
}

__global__ void softmax_rows(const float* __restrict__ input, float* __restrict__ output, int rows, int cols) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * kWarpsPerBlock + threadIdx.x / 32;
    if (row >= rows) return;  // the whole warp leaves together, so the shuffles keep all their lanes
    const float* x = input + (size_t)row * cols;
    float* y = output + (size_t)row * cols;

    float largest = -INFINITY;
#pragma unroll 8
    for (int col = lane; col < cols; col += 32) largest = fmaxf(largest, x[col]);
    largest = warp_max(largest);

    float sum = 0.0f;
#pragma unroll 8
    for (int col = lane; col < cols; col += 32) sum += expf(x[col] - largest);
    float scale = 1.0f / warp_sum(sum);

#pragma unroll 8
    for (int col = lane; col < cols; col += 32) y[col] = expf(x[col] - largest) * scale;
}

void solve(const float* input, float* output, int rows, int cols) {
    int blocks = (rows + kWarpsPerBlock - 1) / kWarpsPerBlock;
    softmax_rows<<<blocks, 32 * kWarpsPerBlock>>>(input, output, rows, cols);
}
