// Rung 2: One block per row, tree in shared memory
//
// A block shares a row: neighbouring threads read neighbouring columns, and two trees in shared memory find the
// maximum and the sum.
// Removes: the scattered reads of rung 1, and the idle machine when there are few rows.
// Still costs: eight halvings with a barrier each, twice a row, and three trips over the row.
#include <cuda_runtime.h>

#include <cmath>

constexpr int kThreads = 256;  // a power of two, for the halving

__global__ void softmax_rows(const float* input, float* output, int cols) {
    __shared__ float shared[kThreads];
    const float* x = input + (size_t)blockIdx.x * cols;
    float* y = output + (size_t)blockIdx.x * cols;
    int thread = threadIdx.x;

    float largest = -INFINITY;
    for (int col = thread; col < cols; col += kThreads) largest = fmaxf(largest, x[col]);
    shared[thread] = largest;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (thread < half) shared[thread] = fmaxf(shared[thread], shared[thread + half]);
        __syncthreads();
    }
    largest = shared[0];
    __syncthreads();  // everyone has read shared[0] before it is used again

    float sum = 0.0f;
    for (int col = thread; col < cols; col += kThreads) sum += expf(x[col] - largest);
    shared[thread] = sum;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (thread < half) shared[thread] += shared[thread + half];
        __syncthreads();
    }
    sum = shared[0];

    for (int col = thread; col < cols; col += kThreads) y[col] = expf(x[col] - largest) / sum;
}

void solve(const float* input, float* output, int rows, int cols) {
    softmax_rows<<<rows, kThreads>>>(input, output, cols);
}
