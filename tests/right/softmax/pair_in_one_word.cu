// Maximum and sum of exponentials travel as one 64-bit word, which blocks merge by compare-and-swap.
// Right without a fence, because the pair is swapped whole; it starts as (-inf, 0), set by a kernel before.
#include <cuda_runtime.h>

union Pair {
    struct {
        float highest, sum;
    } part;
    unsigned long long word;
};

__device__ Pair merge(Pair a, Pair b) {
    float highest = fmaxf(a.part.highest, b.part.highest);
    if (highest == -INFINITY) return a;
    float sum = a.part.sum * expf(a.part.highest - highest) + b.part.sum * expf(b.part.highest - highest);
    Pair merged;
    merged.part.highest = highest;
    merged.part.sum = sum;
    return merged;
}

__global__ void begin(unsigned long long* total) {
    Pair nothing;
    nothing.part.highest = -INFINITY;
    nothing.part.sum = 0.0f;
    *total = nothing.word;
}

__global__ void gather(const float* input, unsigned long long* total, int n) {
    Pair mine;
    mine.part.highest = -INFINITY;
    mine.part.sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        Pair one;
        one.part.highest = input[i];
        one.part.sum = 1.0f;
        mine = merge(mine, one);
    }
    for (int by = 16; by > 0; by /= 2) {
        Pair other;
        other.word = __shfl_xor_sync(0xffffffffu, mine.word, by);
        mine = merge(mine, other);
    }
    if (threadIdx.x % 32 != 0 || mine.part.highest == -INFINITY) return;
    unsigned long long seen = *static_cast<volatile unsigned long long*>(total), expected;
    do {
        Pair before;
        before.word = expected = seen;
        seen = atomicCAS(total, expected, merge(before, mine).word);
    } while (seen != expected);
}

__global__ void normalise(const float* input, float* output, const unsigned long long* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Pair pair;
    pair.word = *total;
    if (i < n) output[i] = expf(input[i] - pair.part.highest) / pair.part.sum;
}

void solve(const float* input, float* output, int n) {
    unsigned long long* total;
    cudaMalloc(&total, sizeof(*total));
    begin<<<1, 1>>>(total);
    gather<<<16, 256>>>(input, total, n);
    normalise<<<(n + 255) / 256, 256>>>(input, output, total, n);
    cudaFree(total);
}
