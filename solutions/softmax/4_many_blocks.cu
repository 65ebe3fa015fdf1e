// Rung 4: many blocks, partial pairs, then normalise
//
// Changes: each block reduces its share of the vector to one (maximum, sum) pair in scratch
// memory. A second kernel starts with every block merging all pairs for itself, then writes its
// share of the result; both use float4.
// Removes: the idle SMs: the vector is split over all of them. The second read of the input
// mostly comes from the L2.
// Still costs: two launches, and the merge of a few hundred pairs repeated by every block. For
// many short rows, one block or one warp for each row needs neither.

constexpr int kBlock = 512;
constexpr int kWarps = kBlock / 32;
constexpr int kMaxBlocks = 132 * 2;  // no more than kBlock, so that one thread takes one pair
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

__device__ Pair append(Pair pair, float x) {
    return merge(pair, {x, 1.0f});
}

__device__ Pair append4(Pair pair, float4 v) {  // the maximum moves at most once for four elements
    float max = fmaxf(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)), pair.max);
    if (max == -INFINITY) {
        return pair;
    }
    float sum = (expf(v.x - max) + expf(v.y - max)) + (expf(v.z - max) + expf(v.w - max));
    return {max, pair.sum * expf(pair.max - max) + sum};
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
    return warp_merge(lane < kWarps ? Pair{maxima[lane], sums[lane]} : Pair{-INFINITY, 0.0f});
}

__global__ void reduce(const float* __restrict__ input, float* maxima, float* sums, int n) {
    const float4* input4 = reinterpret_cast<const float4*>(input);
    int thread = blockIdx.x * kBlock + threadIdx.x;
    int chunks = n / 4;

    Pair pair = {-INFINITY, 0.0f};  // of no elements
    for (int i = thread; i < chunks; i += gridDim.x * kBlock) {
        pair = append4(pair, input4[i]);
    }
    int tail = 4 * chunks + thread;  // the last one to three elements, one thread each
    if (tail < n) {
        pair = append(pair, input[tail]);
    }
    pair = block_merge(pair);
    if (threadIdx.x == 0) {
        maxima[blockIdx.x] = pair.max;
        sums[blockIdx.x] = pair.sum;
    }
}

__global__ void normalise(const float* __restrict__ input, const float* __restrict__ maxima,
                          const float* __restrict__ sums, float* __restrict__ output, int n) {
    Pair pair = {-INFINITY, 0.0f};
    if (threadIdx.x < gridDim.x) {
        pair = {maxima[threadIdx.x], sums[threadIdx.x]};
    }
    pair = block_merge(pair);
    float max = pair.max;
    float scale = 1.0f / pair.sum;

    const float4* input4 = reinterpret_cast<const float4*>(input);
    float4* output4 = reinterpret_cast<float4*>(output);
    int thread = blockIdx.x * kBlock + threadIdx.x;
    int chunks = n / 4;
    for (int i = thread; i < chunks; i += gridDim.x * kBlock) {
        float4 v = input4[i];
        output4[i] = make_float4(expf(v.x - max) * scale, expf(v.y - max) * scale, expf(v.z - max) * scale,
                                 expf(v.w - max) * scale);
    }
    int tail = 4 * chunks + thread;
    if (tail < n) {
        output[tail] = expf(input[tail] - max) * scale;
    }
}

void solve(const float* input, float* output, int n) {
    int chunks = (n + 3) / 4;
    int blocks = (chunks + kBlock - 1) / kBlock;
    blocks = blocks < kMaxBlocks ? blocks : kMaxBlocks;
    float* scratch;  // every block's maximum, then every block's sum
    cudaMalloc(&scratch, 2 * blocks * sizeof(float));
    reduce<<<blocks, kBlock>>>(input, scratch, scratch + blocks, n);
    normalise<<<blocks, kBlock>>>(input, scratch, scratch + blocks, output, n);
    cudaFree(scratch);
}
