// Rung 4: One block per row, shuffles then shared memory
//
// Each warp reduces by shuffles and leaves one number in shared memory; every warp then reduces those few numbers
// for itself. Maximum and sum have a buffer each, so one barrier per reduction is enough.
// Removes: the tree's eight barriers, and the lone warp that had to do a long row by itself. Long rows get blocks of
// 1024 threads: two rows at work on an SM instead of 64, few enough for the L2 cache to hold until the third trip.
// Still costs: three trips over the row, 4 bytes a load.
#include <cuda_runtime.h>

#include <cmath>

constexpr int kLongRow = 4096;  // columns, and more, that are worth 1024 threads
constexpr unsigned kAllLanes = 0xffffffff;

__device__ float warp_max(float value) {
    for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, step));
    return value;
}

__device__ float warp_sum(float value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
    return value;
}

template <int kThreads>
__global__ void __launch_bounds__(kThreads)
softmax_rows(const float* __restrict__ input, float* __restrict__ output, int cols) {
    constexpr int kWarps = kThreads / 32;
    __shared__ float maxima[kWarps];
    __shared__ float sums[kWarps];
    const float* x = input + (size_t)blockIdx.x * cols;
    float* y = output + (size_t)blockIdx.x * cols;
    int thread = threadIdx.x;
    int lane = thread % 32;
    int warp = thread / 32;

    float largest = -INFINITY;
#pragma unroll 4
    for (int col = thread; col < cols; col += kThreads) largest = fmaxf(largest, x[col]);
    largest = warp_max(largest);
    if (lane == 0) maxima[warp] = largest;
    __syncthreads();
    largest = warp_max(maxima[lane % kWarps]);  // repeats do no harm to a maximum

    float sum = 0.0f;
#pragma unroll 4
    for (int col = thread; col < cols; col += kThreads) sum += expf(x[col] - largest);
    sum = warp_sum(sum);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    float scale = 1.0f / warp_sum(lane < kWarps ? sums[lane] : 0.0f);

#pragma unroll 4
    for (int col = thread; col < cols; col += kThreads) y[col] = expf(x[col] - largest) * scale;
}

void solve(const float* input, float* output, int rows, int cols) {
    if (cols < kLongRow) {
        softmax_rows<256><<<rows, 256>>>(input, output, cols);
    } else {
        softmax_rows<1024><<<rows, 1024>>>(input, output, cols);
    }
}
