// Every thread that meets a positive value sets the same flag in shared memory, with no atomic.
// Right, because all write the same value, and a barrier stands before the flag is cleared, before it is set and before
// it is read: whoever comes last, it is the same.
__global__ void relu(const float* x, float* y, int n) {
    __shared__ bool any_positive;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? x[i] : 0.0f;
    if (threadIdx.x == 0) any_positive = false;
    __syncthreads();
    if (value > 0.0f) any_positive = true;
    __syncthreads();
    if (i < n) y[i] = any_positive && value > 0.0f ? value : 0.0f;
}

void solve(const float* x, float* y, int n) {
    relu<<<(n + 127) / 128, 128>>>(x, y, n);
}
