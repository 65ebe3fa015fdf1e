// Rung 6: One block per row, online, float4
//
// A block shares a row and each load brings 16 bytes; the maximum of the four updates the running pair (m, d) once.
// Removes: three of four load and store instructions, and three of four looks at the running maximum.
// Still costs: the row is read twice. Rows start on 16 bytes only when cols is a multiple of 4; otherwise the
// kernel takes one float at a time.
#include <cuda_runtime.h>

#include <cmath>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr unsigned kAllLanes = 0xffffffff;

__device__ float warp_max(float value) {
    for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, step));
    return value;
}

__device__ float warp_sum(float value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
    return value;
}

// The sum d of exp(x - m), moved to a new maximum: nothing so far (m = -inf) stays nothing.
__device__ float rescaled(float d, float m, float new_m) { return m == -INFINITY ? 0.0f : d * __expf(m - new_m); }

template <bool kVector>
__global__ void softmax_rows(const float* input, float* output, int cols) {
    __shared__ float maxima[kWarps];
    __shared__ float sums[kWarps];
    const float* x = input + (size_t)blockIdx.x * cols;
    float* y = output + (size_t)blockIdx.x * cols;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;

    float m = -INFINITY;
    float d = 0.0f;
    if (kVector) {
        for (int i = threadIdx.x; i < cols / 4; i += kThreads) {
            float4 v = reinterpret_cast<const float4*>(x)[i];
            float new_m = fmaxf(fmaxf(m, fmaxf(v.x, v.y)), fmaxf(v.z, v.w));
            if (new_m == -INFINITY) continue;  // masked so far
            d = rescaled(d, m, new_m) + __expf(v.x - new_m) + __expf(v.y - new_m) + __expf(v.z - new_m) +
                __expf(v.w - new_m);
            m = new_m;
        }
    } else {
        for (int col = threadIdx.x; col < cols; col += kThreads) {
            float new_m = fmaxf(m, x[col]);
            if (new_m == -INFINITY) continue;
            d = rescaled(d, m, new_m) + __expf(x[col] - new_m);
            m = new_m;
        }
    }

    float warp_m = warp_max(m);
    float warp_d = warp_sum(rescaled(d, m, warp_m));
    if (lane == 0) {
        maxima[warp] = warp_m;
        sums[warp] = warp_d;
    }
    __syncthreads();
    m = lane < kWarps ? maxima[lane] : -INFINITY;
    d = lane < kWarps ? sums[lane] : 0.0f;
    float largest = warp_max(m);
    float scale = 1.0f / warp_sum(rescaled(d, m, largest));

    if (kVector) {
        for (int i = threadIdx.x; i < cols / 4; i += kThreads) {
            float4 v = reinterpret_cast<const float4*>(x)[i];
            v.x = __expf(v.x - largest) * scale;
            v.y = __expf(v.y - largest) * scale;
            v.z = __expf(v.z - largest) * scale;
            v.w = __expf(v.w - largest) * scale;
            reinterpret_cast<float4*>(y)[i] = v;
        }
    } else {
        for (int col = threadIdx.x; col < cols; col += kThreads) y[col] = __expf(x[col] - largest) * scale;
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    if (cols % 4 == 0) {
        softmax_rows<true><<<rows, kThreads>>>(input, output, cols);
    } else {
        softmax_rows<false><<<rows, kThreads>>>(input, output, cols);
    }
}
