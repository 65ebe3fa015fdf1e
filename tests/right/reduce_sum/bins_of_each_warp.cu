// Each warp counts into bins of its own in shared memory by atomics, and one of its lanes reads them after __syncwarp.
// Right, because atomics don't race with each other, and the plain reads and writes stand on the far side of a
// __syncwarp.
constexpr int kWarps = 4, kBins = 8;

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float bins[kWarps][kBins];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane < kBins) bins[warp][lane] = 0.0f;
    __syncwarp();
    float value = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += input[i];
    atomicAdd(&bins[warp][lane * lane % kBins], value);
    __syncwarp();
    if (lane == warp) {
        float total = 0.0f;
        for (int bin = 0; bin < kBins; ++bin) total += bins[warp][bin];
        atomicAdd(output, total);
    }
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 127) / 128;
    reduce_sum<<<blocks < 64 ? blocks : 64, 32 * kWarps>>>(input, output, n);
}
