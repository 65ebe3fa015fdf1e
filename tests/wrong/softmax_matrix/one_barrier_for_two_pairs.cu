// expect: barrier
// says: barrier
// line: 14
// Pairs of warps share barriers: pairs 0 and 2 both use number 1, each for 64 threads.
constexpr int kPairs = 3;

struct Row {
    float highest[2], sum[2];
};

__global__ void softmax(const float* input, float* output, int rows, int cols) {
    __shared__ Row shared_rows[kPairs];
    int pair = threadIdx.x / 64, half = threadIdx.x / 32 % 2, lane = threadIdx.x % 64;
    auto meet = [=]() { asm volatile("bar.sync %0, 64;" ::"r"(1 + pair % 2) : "memory"); };
    Row& shared = shared_rows[pair];
    for (int row = blockIdx.x * kPairs + pair; row < rows; row += gridDim.x * kPairs) {
        const float* from = input + static_cast<size_t>(row) * cols;
        float highest = -INFINITY, sum = 0.0f;
        for (int c = lane; c < cols; c += 64) highest = fmaxf(highest, from[c]);
        for (int by = 16; by > 0; by /= 2) highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, by));
        if (lane % 32 == 0) shared.highest[half] = highest;
        meet();
        highest = fmaxf(shared.highest[0], shared.highest[1]);
        for (int c = lane; c < cols; c += 64) sum += expf(from[c] - highest);
        for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
        if (lane % 32 == 0) shared.sum[half] = sum;
        meet();  // this one also keeps the maxima of the next row from coming before both have read these
        sum = shared.sum[0] + shared.sum[1];
        for (int c = lane; c < cols; c += 64) output[static_cast<size_t>(row) * cols + c] = expf(from[c] - highest) / sum;
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    int blocks = (rows + kPairs - 1) / kPairs;
    softmax<<<blocks < 60 ? blocks : 60, 64 * kPairs>>>(input, output, rows, cols);
}
