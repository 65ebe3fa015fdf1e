// expect: missing_lanes
// says: which has exited at the branch on line 7
// line: 12
// Lanes beyond n have gone when the others shuffle: what is taken from them is undefined.
__global__ void reduce_sum(const float* input, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    float value = input[i];
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(output, value);
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n);
}
