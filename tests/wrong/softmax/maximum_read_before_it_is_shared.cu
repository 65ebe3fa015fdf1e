// expect: race
// says: race
// line: 20
// Thread 0 stores the maximum; the others read it with no barrier between.
__global__ void softmax(const float* input, float* output, int n) {
    __shared__ float shared_max;
    __shared__ float shared_sum;
    if (threadIdx.x == 0) {
        float max = -INFINITY;
        for (int i = 0; i < n; ++i) {
            max = fmaxf(max, input[i]);
        }
        float sum = 0.0f;
        for (int i = 0; i < n; ++i) {
            sum += expf(input[i] - max);
        }
        shared_max = max;
        shared_sum = sum;
    }
    for (int i = threadIdx.x; i < n; i += 256) {
        output[i] = expf(input[i] - shared_max) / shared_sum;
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 256>>>(input, output, n);
}
