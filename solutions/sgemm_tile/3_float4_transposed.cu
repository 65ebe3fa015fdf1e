// Rung 3: float4, A stored transposed
//
// Same tiles; every load and store moves 16 bytes. A thread's eight rows must be neighbours in shared memory for that,
// so A's tile is turned on the way in: `a[k][row]`. Its rows are padded by four words so that the turning stores
// of a warp fall in 32 banks, and still start on 16 bytes. Sizes that are not whole tiles run a guarded copy of the
// same kernel, so whole ones pay for no checks.
// Removes: three of four load instructions, global and shared; the bounds checks where none is needed.
// Still costs: between two barriers a block only loads, then only computes.
#include <cuda_runtime.h>

constexpr int kTile = 128;     // rows and columns of C per block
constexpr int kDepth = 8;      // columns of A and rows of B per step
constexpr int kThreads = 256;  // each with two by two groups of 4 x 4 of C, 64 rows and columns apart
constexpr int kStride = kTile + 4;

// Four neighbours of a matrix row, 0 beyond its end. kInside promises that all four exist and start on 16 bytes.
template <bool kInside>
__device__ float4 load4(const float* matrix, int row, int col, int rows, int cols) {
    const float* p = matrix + (size_t)row * cols + col;
    if (kInside) return *reinterpret_cast<const float4*>(p);
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row < rows) {
        if (col < cols) v.x = p[0];
        if (col + 1 < cols) v.y = p[1];
        if (col + 2 < cols) v.z = p[2];
        if (col + 3 < cols) v.w = p[3];
    }
    return v;
}

template <bool kInside>
__device__ void store4(float* matrix, float4 v, int row, int col, int rows, int cols) {
    float* p = matrix + (size_t)row * cols + col;
    if (kInside) {
        *reinterpret_cast<float4*>(p) = v;
    } else if (row < rows) {
        if (col < cols) p[0] = v.x;
        if (col + 1 < cols) p[1] = v.y;
        if (col + 2 < cols) p[2] = v.z;
        if (col + 3 < cols) p[3] = v.w;
    }
}

template <bool kInside>
__global__ void __launch_bounds__(kThreads, 2)
    sgemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
    __shared__ __align__(16) float a[kDepth][kStride];
    __shared__ __align__(16) float b[kDepth][kTile];
    int thread = threadIdx.x;
    int row0 = blockIdx.y * kTile;
    int col0 = blockIdx.x * kTile;
    int a_row = thread / 2, a_k = thread % 2 * 4;    // the float4 of A this thread brings
    int b_k = thread / 32, b_col = thread % 32 * 4;  // and of B
    int part_row = thread / 16 * 4;                  // its rows of the tile: part_row + 0..3, and 64 further
    int part_col = thread % 16 * 4;                  // its columns likewise

    float sum[8][8] = {};
    for (int k0 = 0; k0 < K; k0 += kDepth) {
        float4 next_a = load4<kInside>(A, row0 + a_row, k0 + a_k, M, K);
        float4 next_b = load4<kInside>(B, k0 + b_k, col0 + b_col, K, N);
        a[a_k + 0][a_row] = next_a.x;
        a[a_k + 1][a_row] = next_a.y;
        a[a_k + 2][a_row] = next_a.z;
        a[a_k + 3][a_row] = next_a.w;
        *reinterpret_cast<float4*>(&b[b_k][b_col]) = next_b;
        __syncthreads();

#pragma unroll
        for (int k = 0; k < kDepth; k++) {
            float a_part[8], b_part[8];
            *reinterpret_cast<float4*>(&a_part[0]) = *reinterpret_cast<float4*>(&a[k][part_row]);
            *reinterpret_cast<float4*>(&a_part[4]) = *reinterpret_cast<float4*>(&a[k][part_row + 64]);
            *reinterpret_cast<float4*>(&b_part[0]) = *reinterpret_cast<float4*>(&b[k][part_col]);
            *reinterpret_cast<float4*>(&b_part[4]) = *reinterpret_cast<float4*>(&b[k][part_col + 64]);
#pragma unroll
            for (int i = 0; i < 8; i++) {
#pragma unroll
                for (int j = 0; j < 8; j++) sum[i][j] += a_part[i] * b_part[j];
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 8; i++) {
        int row = row0 + part_row + i % 4 + i / 4 * 64;
#pragma unroll
        for (int j = 0; j < 8; j += 4) {
            float4 v = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
            store4<kInside>(C, v, row, col0 + part_col + j / 4 * 64, M, N);
        }
    }
}

void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 grid((N + kTile - 1) / kTile, (M + kTile - 1) / kTile);
    if (M % kTile == 0 && N % kTile == 0 && K % kDepth == 0) {
        sgemm<true><<<grid, kThreads>>>(A, B, C, M, N, K);
    } else {
        sgemm<false><<<grid, kThreads>>>(A, B, C, M, N, K);
    }
}
