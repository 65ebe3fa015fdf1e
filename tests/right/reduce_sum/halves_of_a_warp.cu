// The two halves of a warp take different branches, and shuffle in each among themselves.
// Right, because each shuffle's mask names the lanes of its own branch and no lane of the other.
__global__ void reduce_sum(const float* input, float* output, int n) {
    int lane = threadIdx.x % 32;
    float positive = 0.0f, negative = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        (input[i] > 0.0f ? positive : negative) += input[i];
    }
    // Lane k of the lower half gathers what lanes k and k + 16 have of the positive, of the upper half of the negative.
    float mine = lane < 16 ? positive : negative, theirs = lane < 16 ? negative : positive;
    mine += __shfl_xor_sync(0xffffffffu, theirs, 16);
    if (lane < 16) {
        for (int by = 8; by > 0; by /= 2) mine += __shfl_xor_sync(0x0000ffffu, mine, by);
        if (lane == 0) atomicAdd(output, mine);
    } else {
        for (int by = 1; by < 16; by *= 2) mine += __shfl_down_sync(0xffff0000u, mine, by, 16);
        if (lane == 16) atomicAdd(output, mine);
    }
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 127) / 128;
    reduce_sum<<<blocks < 64 ? blocks : 64, 128>>>(input, output, n);
}
