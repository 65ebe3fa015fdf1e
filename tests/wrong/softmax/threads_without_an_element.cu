// expect: uninitialised
// says: before it has a value
// line: 10
// A thread's first element sets its maximum, and threads that have none hand theirs to the tree all the same.
__global__ void softmax(const float* input, float* output, int n) {
    __shared__ float partial[256];
    int t = threadIdx.x;
    float highest;
    for (int i = t; i < n; i += 256) highest = i == t ? input[i] : fmaxf(highest, input[i]);
    partial[t] = highest;
    __syncthreads();
    for (int by = 128; by > 0; by /= 2) {
        if (t < by) partial[t] = fmaxf(partial[t], partial[t + by]);
        __syncthreads();
    }
    highest = partial[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = t; i < n; i += 256) sum += expf(input[i] - highest);
    partial[t] = sum;
    __syncthreads();
    for (int by = 128; by > 0; by /= 2) {
        if (t < by) partial[t] += partial[t + by];
        __syncthreads();
    }
    for (int i = t; i < n; i += 256) output[i] = expf(input[i] - highest) / partial[0];
}

void solve(const float* input, float* output, int n) { softmax<<<1, 256>>>(input, output, n); }
