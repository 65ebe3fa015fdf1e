// expect: copied_input
// says: element of input, not the sum
// A maximum, not a sum.
__global__ void reduce(const float* input, float* output, int n) {
    float value = -INFINITY;
    for (int i = threadIdx.x; i < n; i += 32) {
        value = fmaxf(value, input[i]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        value = fmaxf(value, __shfl_down_sync(0xffffffffu, value, offset));
    }
    if (threadIdx.x == 0) {
        output[0] = value;
    }
}

void solve(const float* input, float* output, int n) {
    reduce<<<1, 32>>>(input, output, n);
}
