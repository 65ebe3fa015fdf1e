// Blocks of a single thread, each with 61 elements of its own; the barrier in the loop waits for nobody.
// Right, if slow: a block's size need not be a multiple of a warp.
constexpr int kEach = 61;

__global__ void relu(const float* x, float* y, int n) {
    __shared__ float value;
    int first = blockIdx.x * kEach;
    for (int i = first; i < min(first + kEach, n); ++i) {
        value = x[i];
        __syncthreads();
        y[i] = fmaxf(value, 0.0f);
    }
}

void solve(const float* x, float* y, int n) {
    relu<<<(n + kEach - 1) / kEach, 1>>>(x, y, n);
}
