// expect: scattered | every_nth | differs_between_runs
// says: sum
// Offsets 8, 4, 2, 1: the upper half of each warp never reaches lane 0.
__global__ void reduce_sum(const float* input, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? input[i] : 0.0f;
    for (int offset = 8; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(output, value);
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n);
}
