// Rung 8: the last block done finishes
//
// Changes: each block stores its sum in a slot of its own, then counts itself with an integer
// atomic; the block that finds itself the last sums the slots in a fixed order.
// Removes: the float atomics. Every addition now happens in an order that depends on n alone:
// same bits every run.
// Still costs: a fence, a count that the block has to wait for, and one short extra step by a
// single block: 1.5 us at the end of 40 on an H200, where a float atomic is sent and forgotten.
// The slots and the counter are global variables, so two sums must not run at once on two streams.

constexpr int kBlock = 512;
constexpr int kWarps = kBlock / 32;
constexpr int kMaxBlocks = 132 * 4;
constexpr unsigned kFullMask = 0xffffffffu;

__device__ float block_sums[kMaxBlocks];
__device__ unsigned blocks_done = 0;  // back at 0 after every launch

__device__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(kFullMask, value, offset);
    }
    return value;
}

__device__ float block_sum(float value) {
    __shared__ float warp_sums[kWarps];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    __syncthreads();  // a second call must not overwrite what the first one still reads
    value = warp_sum(value);
    if (lane == 0) {
        warp_sums[warp] = value;
    }
    __syncthreads();
    if (warp == 0) {
        value = warp_sum(lane < kWarps ? warp_sums[lane] : 0.0f);
    }
    return value;
}

__device__ float sum4(float4 v) {
    return (v.x + v.y) + (v.z + v.w);
}

__device__ float strided_sum(const float* __restrict__ input, int n) {
    const float4* input4 = reinterpret_cast<const float4*>(input);
    int stride = gridDim.x * kBlock;
    int thread = blockIdx.x * kBlock + threadIdx.x;
    int chunks = n / 4;

    float sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
    int i = thread;
    for (; i + 3 * stride < chunks; i += 4 * stride) {
        float4 v0 = __ldcs(&input4[i]);
        float4 v1 = __ldcs(&input4[i + stride]);
        float4 v2 = __ldcs(&input4[i + 2 * stride]);
        float4 v3 = __ldcs(&input4[i + 3 * stride]);
        sum0 += sum4(v0);
        sum1 += sum4(v1);
        sum2 += sum4(v2);
        sum3 += sum4(v3);
    }
    for (; i < chunks; i += stride) {
        sum0 += sum4(input4[i]);
    }
    int tail = 4 * chunks + thread;
    if (tail < n) {
        sum1 += input[tail];
    }
    return (sum0 + sum1) + (sum2 + sum3);
}

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ bool is_last;
    float sum = block_sum(strided_sum(input, n));
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        __threadfence();  // the slot must be seen by whoever sees the count
        // atomicInc wraps to 0 at its second argument: the last block leaves the counter ready for the next launch.
        is_last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) {
        return;  // the same for the whole block
    }

    __threadfence();  // and the count must be seen before the slots are read
    float total = 0.0f;
    for (int i = threadIdx.x; i < gridDim.x; i += kBlock) {
        total += block_sums[i];
    }
    total = block_sum(total);
    if (threadIdx.x == 0) {
        output[0] = total;
    }
}

void solve(const float* input, float* output, int n) {
    int chunks = (n + 3) / 4;
    int blocks = (chunks + kBlock - 1) / kBlock;
    reduce_sum<<<blocks < kMaxBlocks ? blocks : kMaxBlocks, kBlock>>>(input, output, n);
}
