// expect: second_call | factor
// says: second
// The running total lives in a global variable that nobody clears.
__device__ float total = 0.0f;

__global__ void accumulate(const float* input, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&total, input[i]);
    }
}

__global__ void publish(float* output) {
    output[0] = total;
}

void solve(const float* input, float* output, int n) {
    accumulate<<<(n + 255) / 256, 256>>>(input, n);
    publish<<<1, 1>>>(output);
}
