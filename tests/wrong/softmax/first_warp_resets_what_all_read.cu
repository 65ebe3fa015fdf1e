// expect: race
// says: race on word
// line: 32
// The first warp sets the word back for the sum after a __syncwarp(), while other warps may still read the maximum.
constexpr int kWarps = 8;

template <class Merge>
__device__ float over_block(float value, float* slots, Merge merge) {
    for (int by = 16; by > 0; by /= 2) value = merge(value, __shfl_xor_sync(0xffffffffu, value, by));
    if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = value;
    __syncthreads();
    value = slots[0];
    for (int warp = 1; warp < kWarps; ++warp) value = merge(value, slots[warp]);
    __syncthreads();
    return value;
}

__global__ void softmax(const float* input, float* output, int n) {
    __shared__ float slots[kWarps], word;
    auto larger = [](float a, float b) { return fmaxf(a, b); };
    auto plus = [](float a, float b) { return a + b; };
    float highest = -INFINITY;
    for (int i = threadIdx.x; i < n; i += 32 * kWarps) highest = fmaxf(highest, input[i]);
    highest = over_block(highest, slots, larger);
    if (threadIdx.x == 0) word = highest;
    __syncthreads();
    highest = word;
    if (threadIdx.x >= 32 * (kWarps - 1)) {
        __syncwarp();
        if (threadIdx.x % 32 == 0) {
            // set back for the sum
            word = 0.0f;
        }
    }
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32 * kWarps) sum += expf(input[i] - highest);
    sum = over_block(sum, slots, plus);
    if (threadIdx.x == 0) word += sum;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 32 * kWarps) output[i] = expf(input[i] - highest) / word;
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 32 * kWarps>>>(input, output, n);
}
