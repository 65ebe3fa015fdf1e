// expect: nan
// says: NaN
// e^x overflows above 88.7.
__global__ void softmax(const float* input, float* output, int n) {
    __shared__ float total;
    if (threadIdx.x == 0) {
        total = 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 1024) {
        sum += expf(input[i]);
    }
    atomicAdd(&total, sum);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 1024) {
        output[i] = expf(input[i]) / total;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 1024>>>(input, output, n);
}
