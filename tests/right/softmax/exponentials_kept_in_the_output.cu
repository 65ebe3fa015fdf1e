// The output is the scratch: exponentials are stored there, and scaled in place when their sum is known.
// Right, because each thread reads back what it wrote itself, so that not even the barrier in between is needed for it.
constexpr int kThreads = 512;

__global__ void softmax(const float* input, float* output, int n) {
    __shared__ float tree[kThreads];
    float highest = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += kThreads) highest = fmaxf(highest, input[i]);
    tree[threadIdx.x] = highest;
    for (int half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) tree[threadIdx.x] = fmaxf(tree[threadIdx.x], tree[threadIdx.x + half]);
    }
    __syncthreads();
    highest = tree[0];
    for (int i = threadIdx.x; i < n; i += kThreads) sum += output[i] = expf(input[i] - highest);
    __syncthreads();
    tree[threadIdx.x] = sum;
    for (int half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += kThreads) output[i] /= tree[0];
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, kThreads>>>(input, output, n);
}
