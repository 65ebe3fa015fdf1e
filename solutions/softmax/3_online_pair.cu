// Rung 3: online (maximum, sum) pair
//
// Changes: maximum and sum are found in one pass. A pair (m, d) says: d is the sum of e^(x - m)
// over the elements seen. Two pairs merge into one by scaling both sums to the larger maximum,
// in any order. Each thread takes 16 elements at a time, so that its sum is scaled once for all
// of them.
// Removes: one of the three passes over the input, one of the two block reductions, and all
// divisions but one a thread; 16 loads are in flight where there was a wait after every few.
// Still costs: one more exponential for every batch, and all SMs but one stand idle.

constexpr int kBlock = 1024;
constexpr int kWarps = kBlock / 32;
constexpr int kBatch = 16;  // elements a thread loads before it uses any
constexpr unsigned kFullMask = 0xffffffffu;

struct Pair {
    float max;
    float sum;  // of e^(x - max)
};

__device__ Pair merge(Pair a, Pair b) {
    float max = fmaxf(a.max, b.max);
    if (max == -INFINITY) {  // nothing but -inf on either side: (-inf) - (-inf) would be NaN
        return {max, 0.0f};
    }
    return {max, a.sum * expf(a.max - max) + b.sum * expf(b.max - max)};
}

__device__ Pair warp_merge(Pair pair) {  // every lane holds the result
    for (int offset = 16; offset > 0; offset /= 2) {
        Pair other = {__shfl_xor_sync(kFullMask, pair.max, offset), __shfl_xor_sync(kFullMask, pair.sum, offset)};
        pair = merge(pair, other);
    }
    return pair;
}

__device__ Pair block_merge(Pair pair) {  // every thread holds the result
    __shared__ float maxima[kWarps];
    __shared__ float sums[kWarps];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    pair = warp_merge(pair);
    if (lane == 0) {
        maxima[warp] = pair.max;
        sums[warp] = pair.sum;
    }
    __syncthreads();
    return warp_merge({maxima[lane], sums[lane]});
}

__device__ Pair thread_pair(const float* input, int n) {
    Pair pair = {-INFINITY, 0.0f};  // of no elements: threads beyond n keep it
    for (int start = threadIdx.x; start < n; start += kBatch * kBlock) {
        float x[kBatch];
        for (int k = 0; k < kBatch; ++k) {  // independent loads: all in flight at once
            int i = start + k * kBlock;
            x[k] = i < n ? input[i] : -INFINITY;
        }
        float max = pair.max;
        for (int k = 0; k < kBatch; ++k) {
            max = fmaxf(max, x[k]);
        }
        if (max > -INFINITY) {
            float sum = pair.sum * expf(pair.max - max);  // once for the batch
            for (int k = 0; k < kBatch; ++k) {
                sum += expf(x[k] - max);
            }
            pair = {max, sum};
        }
    }
    return pair;
}

__global__ void softmax(const float* input, float* output, int n) {
    Pair pair = block_merge(thread_pair(input, n));
    float scale = 1.0f / pair.sum;
    for (int i = threadIdx.x; i < n; i += kBlock) {
        output[i] = expf(input[i] - pair.max) * scale;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, kBlock>>>(input, output, n);
}
