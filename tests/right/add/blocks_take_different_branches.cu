// Blocks with an odd number run another branch than those with an even one, and each branch has barriers of its own.
// Right, because a block as a whole takes one of them: a barrier is of a block, and knows nothing of others.
constexpr int kThreads = 128;

__global__ void add(const float* a, const float* b, float* c, int n) {
    __shared__ float kept[kThreads];
    int i = blockIdx.x * kThreads + threadIdx.x, other = blockIdx.x * kThreads + (threadIdx.x ^ 64);
    if (blockIdx.x % 2 == 0) {
        kept[threadIdx.x] = i < n ? a[i] : 0.0f;
        __syncthreads();
        if (other < n) c[other] = kept[threadIdx.x ^ 64] + b[other];
    } else {
        kept[threadIdx.x ^ 64] = other < n ? b[other] : 0.0f;
        __syncthreads();
        float y = kept[threadIdx.x];
        __syncthreads();
        kept[threadIdx.x] = i < n ? a[i] + y : 0.0f;
        __syncthreads();
        if (other < n) c[other] = kept[threadIdx.x ^ 64];
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + kThreads - 1) / kThreads, kThreads>>>(a, b, c, n);
}
