// Threads beyond n have no value; the shuffles move it, and a select drops it behind each.
// Right, because a lane adds what it got only where the giver was a thread below n.
__global__ void reduce_sum(const float* input, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value;
    if (i < n) value = input[i];
    for (int by = 16; by > 0; by /= 2) {
        float other = __shfl_down_sync(0xffffffffu, value, by);
        value += i + by < n ? other : 0.0f;
    }
    if (threadIdx.x % 32 == 0 && i < n) atomicAdd(output, value);
}

void solve(const float* input, float* output, int n) { reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n); }
