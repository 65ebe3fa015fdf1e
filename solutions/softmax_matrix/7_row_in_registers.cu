// Rung 7: Row kept in registers, one read and one write
//
// Up to 1024 columns, a warp keeps its row in registers, at most 32 floats a lane: load once, reduce twice, store
// once. All loads of a lane are independent, so they are in flight together.
// Removes: the second read, and with it the need for an online sum: the maximum is known before the first exponential.
// Still costs: registers; the row must fit. Longer rows are read twice as in rung 6, but by blocks of 1024 threads, four
// loads in flight: so few rows are at work that the second read finds part of them in the L2 cache.
#include <cuda_runtime.h>

#include <cmath>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kLongThreads = 1024;
constexpr int kLongWarps = kLongThreads / 32;
constexpr unsigned kAllLanes = 0xffffffff;

__device__ float warp_max(float value) {
    for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, step));
    return value;
}

__device__ float warp_sum(float value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
    return value;
}

__device__ float max4(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }
__device__ float sum4(float4 v) { return (v.x + v.y) + (v.z + v.w); }
__device__ float4 exp4(float4 v, float m) {
    return make_float4(__expf(v.x - m), __expf(v.y - m), __expf(v.z - m), __expf(v.w - m));
}
__device__ float4 scaled4(float4 v, float scale) {
    return make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
}

// Four columns of a row, -inf beyond its end. A `group` is 128 columns: with kVector a lane takes four neighbours
// (one 16-byte load), otherwise columns 32 apart (four loads, each coalesced).
template <bool kVector>
__device__ float4 load4(const float* x, int group, int lane, int cols) {
    if (kVector) {
        int col = 128 * group + 4 * lane;
        if (col < cols) return *reinterpret_cast<const float4*>(x + col);
        return make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    }
    int col = 128 * group + lane;
    return make_float4(col < cols ? x[col] : -INFINITY, col + 32 < cols ? x[col + 32] : -INFINITY,
                       col + 64 < cols ? x[col + 64] : -INFINITY, col + 96 < cols ? x[col + 96] : -INFINITY);
}

template <bool kVector>
__device__ void store4(float* y, float4 v, int group, int lane, int cols) {
    if (kVector) {
        int col = 128 * group + 4 * lane;
        if (col < cols) *reinterpret_cast<float4*>(y + col) = v;
        return;
    }
    int col = 128 * group + lane;
    if (col < cols) y[col] = v.x;
    if (col + 32 < cols) y[col + 32] = v.y;
    if (col + 64 < cols) y[col + 64] = v.z;
    if (col + 96 < cols) y[col + 96] = v.w;
}

// A warp per row of at most 128 * kGroups columns.
template <bool kVector, int kGroups>
__global__ void softmax_short_rows(const float* input, float* output, int rows, int cols) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * kWarps + threadIdx.x / 32;
    if (row >= rows) return;  // the whole warp leaves together
    const float* x = input + (size_t)row * cols;
    float* y = output + (size_t)row * cols;

    float4 v[kGroups];
#pragma unroll
    for (int g = 0; g < kGroups; g++) v[g] = load4<kVector>(x, g, lane, cols);

    float largest = -INFINITY;
#pragma unroll
    for (int g = 0; g < kGroups; g++) largest = fmaxf(largest, max4(v[g]));
    largest = warp_max(largest);

    float sum = 0.0f;
#pragma unroll
    for (int g = 0; g < kGroups; g++) {
        v[g] = exp4(v[g], largest);
        sum += sum4(v[g]);
    }
    float scale = 1.0f / warp_sum(sum);

#pragma unroll
    for (int g = 0; g < kGroups; g++) store4<kVector>(y, scaled4(v[g], scale), g, lane, cols);
}

// The sum d of exp(x - m), moved to a new maximum: nothing so far (m = -inf) stays nothing.
__device__ float rescaled(float d, float m, float new_m) { return m == -INFINITY ? 0.0f : d * __expf(m - new_m); }

// A block per row of any length, read twice.
template <bool kVector>
__global__ void __launch_bounds__(kLongThreads)
softmax_long_rows(const float* input, float* output, int cols) {
    __shared__ float maxima[kLongWarps];
    __shared__ float sums[kLongWarps];
    const float* x = input + (size_t)blockIdx.x * cols;
    float* y = output + (size_t)blockIdx.x * cols;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;

    float m = -INFINITY;
    float d = 0.0f;
#pragma unroll 4
    for (int g = warp; 128 * g < cols; g += kLongWarps) {
        float4 v = load4<kVector>(x, g, lane, cols);
        float new_m = fmaxf(m, max4(v));
        if (new_m == -INFINITY) continue;  // masked, or beyond the row
        d = rescaled(d, m, new_m) + sum4(exp4(v, new_m));
        m = new_m;
    }

    float warp_m = warp_max(m);
    float warp_d = warp_sum(rescaled(d, m, warp_m));
    if (lane == 0) {
        maxima[warp] = warp_m;
        sums[warp] = warp_d;
    }
    __syncthreads();
    m = lane < kLongWarps ? maxima[lane] : -INFINITY;
    d = lane < kLongWarps ? sums[lane] : 0.0f;
    float largest = warp_max(m);
    float scale = 1.0f / warp_sum(rescaled(d, m, largest));

#pragma unroll 4
    for (int g = warp; 128 * g < cols; g += kLongWarps) {
        float4 v = load4<kVector>(x, g, lane, cols);
        store4<kVector>(y, scaled4(exp4(v, largest), scale), g, lane, cols);
    }
}

template <bool kVector>
void launch(const float* input, float* output, int rows, int cols) {
    int blocks = (rows + kWarps - 1) / kWarps;
    if (cols <= 128) {
        softmax_short_rows<kVector, 1><<<blocks, kThreads>>>(input, output, rows, cols);
    } else if (cols <= 256) {
        softmax_short_rows<kVector, 2><<<blocks, kThreads>>>(input, output, rows, cols);
    } else if (cols <= 512) {
        softmax_short_rows<kVector, 4><<<blocks, kThreads>>>(input, output, rows, cols);
    } else if (cols <= 1024) {
        softmax_short_rows<kVector, 8><<<blocks, kThreads>>>(input, output, rows, cols);
    } else {
        softmax_long_rows<kVector><<<rows, kLongThreads>>>(input, output, cols);
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    if (cols % 4 == 0) {
        launch<true>(input, output, rows, cols);
    } else {
        launch<false>(input, output, rows, cols);
    }
}
