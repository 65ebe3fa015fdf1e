// expect: missing_lanes
// says: named in the mask
// line: 11
// In the last round of the loop only some lanes still have an element, and the shuffle with the full mask names the
// others too, which are on their way out.
__global__ void reduce_sum(const float* input, float* output, int n) {
    float total = 0.0f;
    int rounds = 0;
    for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += gridDim.x * 32) {
        float value = input[i];
        total += __shfl_sync(0xffffffffu, value, threadIdx.x);
        ++rounds;
    }
    if (rounds > 0) atomicAdd(output, total);
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<8, 32>>>(input, output, n);
}
