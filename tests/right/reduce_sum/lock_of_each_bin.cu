// Sixteen bins with a lock each, that any thread may want, lanes of one warp too.
// Right, because a lane that gets the lock also gives it back within the same round of the loop: nobody waits for a lane
// that waits for him.
#include <cuda_runtime.h>

constexpr int kBins = 16;

__global__ void fill(const float* input, float* bins, int* locks, int n) {
    float value = 0.0f;
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = thread; i < n; i += gridDim.x * blockDim.x) value += input[i];
    int bin = thread * 7 / 3 % kBins;
    for (bool done = false; !done;) {
        if (atomicCAS(&locks[bin], 0, 1) == 0) {
            __threadfence();
            bins[bin] += value;
            __threadfence();
            atomicExch(&locks[bin], 0);
            done = true;
        }
    }
}

__global__ void add_up(const float* bins, float* output) {
    float total = 0.0f;
    for (int bin = 0; bin < kBins; ++bin) total += bins[bin];
    *output = total;
}

void solve(const float* input, float* output, int n) {
    float* bins;
    cudaMalloc(&bins, 2 * kBins * sizeof(float));
    cudaMemset(bins, 0, 2 * kBins * sizeof(float));
    fill<<<3, 64>>>(input, bins, reinterpret_cast<int*>(bins + kBins), n);
    add_up<<<1, 1>>>(bins, output);
    cudaFree(bins);
}
