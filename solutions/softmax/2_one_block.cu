// Rung 2: one block, two-level reductions
//
// Changes: a single block of 1024 threads does it all: each thread strides over the vector,
// then warps reduce by shuffle and the first results meet in shared memory.
// Removes: the atomics, the scratch memory and two of the three launches: __syncthreads() is
// all the barrier one block needs.
// Still costs: two exponentials an element, three passes over the input, and all SMs but one
// stand idle.

constexpr int kBlock = 1024;
constexpr int kWarps = kBlock / 32;  // 32: one warp takes all of them
constexpr unsigned kFullMask = 0xffffffffu;

struct Max {
    static __device__ float identity() { return -INFINITY; }
    static __device__ float apply(float a, float b) { return fmaxf(a, b); }
};

struct Sum {
    static __device__ float identity() { return 0.0f; }
    static __device__ float apply(float a, float b) { return a + b; }
};

template <typename Op>
__device__ float warp_reduce(float value) {  // every lane holds the result
    for (int offset = 16; offset > 0; offset /= 2) {
        value = Op::apply(value, __shfl_xor_sync(kFullMask, value, offset));
    }
    return value;
}

template <typename Op>
__device__ float block_reduce(float value) {  // every thread holds the result
    __shared__ float results[kWarps];  // each Op has an array of its own
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    value = warp_reduce<Op>(value);
    if (lane == 0) {
        results[warp] = value;
    }
    __syncthreads();
    return warp_reduce<Op>(results[lane]);  // each warp does it again for itself: no second barrier
}

__global__ void softmax(const float* input, float* output, int n) {
    float max = Max::identity();
    for (int i = threadIdx.x; i < n; i += kBlock) {
        max = Max::apply(max, input[i]);
    }
    max = block_reduce<Max>(max);

    float sum = Sum::identity();
    for (int i = threadIdx.x; i < n; i += kBlock) {
        sum += expf(input[i] - max);
    }
    sum = block_reduce<Sum>(sum);

    for (int i = threadIdx.x; i < n; i += kBlock) {
        output[i] = expf(input[i] - max) / sum;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, kBlock>>>(input, output, n);
}
