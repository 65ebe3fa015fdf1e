// Rung 8: Long rows: every load in flight, streaming stores
//
// A team of 32 to 1024 threads keeps a row of up to 32768 columns in registers, 32 floats a thread at most. All its
// loads leave before the first result is needed. Stores are marked as streaming (`__stcs`), for nobody reads them soon.
// Longer rows are read twice, four float4 in flight a thread, by one block of 1024 threads an SM, so that the rows at
// work fit in the L2 cache and the second read is mostly served there.
// Removes: the second read of long rows.
// Still costs: one read and one write of everything: as a copy does.
#include <cuda_runtime.h>

#include <cmath>

constexpr int kGroups = 8;  // float4 per thread, at most
constexpr int kLargestTeam = 1024;
constexpr unsigned kAllLanes = 0xffffffff;

__device__ float warp_max(float value) {
    for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, step));
    return value;
}

__device__ float warp_sum(float value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
    return value;
}

// A team is a warp, or a whole block of kTeam threads; then the warps meet in shared memory.
template <int kTeam>
__device__ float team_max(float value) {
    value = warp_max(value);
    if (kTeam == 32) return value;
    __shared__ float maxima[kTeam / 32];
    int lane = threadIdx.x % 32;
    if (lane == 0) maxima[threadIdx.x / 32] = value;
    __syncthreads();
    return warp_max(maxima[lane % (kTeam / 32)]);
}

template <int kTeam>
__device__ float team_sum(float value) {
    value = warp_sum(value);
    if (kTeam == 32) return value;
    __shared__ float sums[kTeam / 32];
    int lane = threadIdx.x % 32;
    if (lane == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    return warp_sum(lane < kTeam / 32 ? sums[lane] : 0.0f);
}

__device__ float max4(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }
__device__ float sum4(float4 v) { return (v.x + v.y) + (v.z + v.w); }
__device__ float4 exp4(float4 v, float m) {
    return make_float4(__expf(v.x - m), __expf(v.y - m), __expf(v.z - m), __expf(v.w - m));
}
__device__ float4 scaled4(float4 v, float scale) {
    return make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
}

// Four columns of a row, -inf beyond its end. A `group` is 4 * kTeam columns: with kVector a thread takes four
// neighbours (one 16-byte load), otherwise columns kTeam apart (four loads, each coalesced).
template <bool kVector, int kTeam>
__device__ float4 load4(const float* x, int group, int cols) {
    if (kVector) {
        int col = 4 * (kTeam * group + threadIdx.x);
        if (col < cols) return *reinterpret_cast<const float4*>(x + col);
        return make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    }
    int col = 4 * kTeam * group + threadIdx.x;
    return make_float4(col < cols ? x[col] : -INFINITY, col + kTeam < cols ? x[col + kTeam] : -INFINITY,
                       col + 2 * kTeam < cols ? x[col + 2 * kTeam] : -INFINITY,
                       col + 3 * kTeam < cols ? x[col + 3 * kTeam] : -INFINITY);
}

template <bool kVector, int kTeam>
__device__ void store4(float* y, float4 v, int group, int cols) {
    if (kVector) {
        int col = 4 * (kTeam * group + threadIdx.x);
        if (col < cols) __stcs(reinterpret_cast<float4*>(y + col), v);
        return;
    }
    int col = 4 * kTeam * group + threadIdx.x;
    if (col < cols) __stcs(&y[col], v.x);
    if (col + kTeam < cols) __stcs(&y[col + kTeam], v.y);
    if (col + 2 * kTeam < cols) __stcs(&y[col + 2 * kTeam], v.z);
    if (col + 3 * kTeam < cols) __stcs(&y[col + 3 * kTeam], v.w);
}

// A team per row of at most 4 * kTeam * kCount columns. blockDim is (kTeam, teams): several teams if they are warps.
template <bool kVector, int kTeam, int kCount>
__global__ void softmax_in_registers(const float* input, float* output, int rows, int cols) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;  // a whole warp leaves, never part of a block with a barrier ahead
    const float* x = input + (size_t)row * cols;
    float* y = output + (size_t)row * cols;

    float4 v[kCount];
#pragma unroll
    for (int g = 0; g < kCount; g++) v[g] = load4<kVector, kTeam>(x, g, cols);

    float largest = -INFINITY;
#pragma unroll
    for (int g = 0; g < kCount; g++) largest = fmaxf(largest, max4(v[g]));
    largest = team_max<kTeam>(largest);

    float sum = 0.0f;
#pragma unroll
    for (int g = 0; g < kCount; g++) {
        v[g] = exp4(v[g], largest);
        sum += sum4(v[g]);
    }
    float scale = 1.0f / team_sum<kTeam>(sum);

#pragma unroll
    for (int g = 0; g < kCount; g++) store4<kVector, kTeam>(y, scaled4(v[g], scale), g, cols);
}

// A block per row of any length: the online pair (m, d) from a first read, the division in a second.
template <bool kVector>
__global__ void __launch_bounds__(kLargestTeam, 1) softmax_read_twice(const float* input, float* output, int cols) {
    constexpr int kInFlight = 4;
    const float* x = input + (size_t)blockIdx.x * cols;
    float* y = output + (size_t)blockIdx.x * cols;
    int groups = (cols + 4 * kLargestTeam - 1) / (4 * kLargestTeam);

    float m = -INFINITY;
    float d = 0.0f;
    for (int first = 0; first < groups; first += kInFlight) {
        float4 v[kInFlight];
        float new_m = m;
#pragma unroll
        for (int g = 0; g < kInFlight; g++) v[g] = load4<kVector, kLargestTeam>(x, first + g, cols);
#pragma unroll
        for (int g = 0; g < kInFlight; g++) new_m = fmaxf(new_m, max4(v[g]));
        if (new_m == -INFINITY) continue;  // masked so far
        d *= __expf(m - new_m);            // the first time m is -inf, and d stays 0
        m = new_m;
#pragma unroll
        for (int g = 0; g < kInFlight; g++) d += sum4(exp4(v[g], m));
    }
    float largest = team_max<kLargestTeam>(m);
    float scale = 1.0f / team_sum<kLargestTeam>(d * __expf(m - largest));

    for (int first = 0; first < groups; first += kInFlight) {
        float4 v[kInFlight];
#pragma unroll
        for (int g = 0; g < kInFlight; g++) v[g] = load4<kVector, kLargestTeam>(x, first + g, cols);
#pragma unroll
        for (int g = 0; g < kInFlight; g++) {
            store4<kVector, kLargestTeam>(y, scaled4(exp4(v[g], largest), scale), first + g, cols);
        }
    }
}

template <bool kVector, int kTeam, int kCount>
void launch_in_registers(const float* input, float* output, int rows, int cols) {
    int teams = kTeam == 32 ? 8 : 1;
    softmax_in_registers<kVector, kTeam, kCount>
        <<<(rows + teams - 1) / teams, dim3(kTeam, teams)>>>(input, output, rows, cols);
}

template <bool kVector>
void launch(const float* input, float* output, int rows, int cols) {
    if (cols <= 128) {
        launch_in_registers<kVector, 32, 1>(input, output, rows, cols);
    } else if (cols <= 256) {
        launch_in_registers<kVector, 32, 2>(input, output, rows, cols);
    } else if (cols <= 512) {
        launch_in_registers<kVector, 32, 4>(input, output, rows, cols);
    } else if (cols <= 1024) {
        launch_in_registers<kVector, 32, kGroups>(input, output, rows, cols);
    } else if (cols <= 4096) {
        launch_in_registers<kVector, 128, kGroups>(input, output, rows, cols);
    } else if (cols <= 8192) {
        launch_in_registers<kVector, 256, kGroups>(input, output, rows, cols);
    } else if (cols <= 16384) {
        launch_in_registers<kVector, 512, kGroups>(input, output, rows, cols);
    } else if (cols <= 32768) {
        launch_in_registers<kVector, 1024, kGroups>(input, output, rows, cols);
    } else {
        softmax_read_twice<kVector><<<rows, kLargestTeam>>>(input, output, cols);
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    if (cols % 4 == 0) {
        launch<true>(input, output, rows, cols);
    } else {
        launch<false>(input, output, rows, cols);
    }
}
