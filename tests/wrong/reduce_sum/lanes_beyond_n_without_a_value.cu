// expect: uninitialised
// says: before it has a value
// line: 9
// Threads beyond n never set their value, and the shuffles add it all the same.
__global__ void reduce_sum(const float* input, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value;
    if (i < n) value = input[i];
    for (int by = 16; by > 0; by /= 2) value += __shfl_down_sync(0xffffffffu, value, by);
    if (threadIdx.x % 32 == 0) atomicAdd(output, value);
}

void solve(const float* input, float* output, int n) { reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n); }
