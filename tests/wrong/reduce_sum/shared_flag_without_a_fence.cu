// expect: race
// says: __threadfence_block()
// line: 25
// Sum and flag are volatile and lie in shared memory; no fence keeps the sum before the flag.
constexpr int kWarps = 4;

struct Link {
    float sum;
    int ready;
};

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ volatile Link links[kWarps];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) links[warp].ready = 0;
    __syncthreads();
    float value = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += input[i];
    for (int by = 16; by > 0; by /= 2) value += __shfl_down_sync(0xffffffffu, value, by);
    if (lane != 0) return;
    if (warp > 0) {
        while (links[warp - 1].ready == 0) {
        }
        __threadfence_block();
        value += links[warp - 1].sum;
    }
    links[warp].sum = value;
    links[warp].ready = 1;
    if (warp == kWarps - 1) atomicAdd(output, value);
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 127) / 128;
    reduce_sum<<<blocks < 64 ? blocks : 64, 32 * kWarps>>>(input, output, n);
}
