// expect: no_launch
// says: launch
// The kernel is fine; solve forgets it.
__global__ void sigmoid(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = 1.0f / (1.0f + expf(-x[i]));
    }
}

void solve(const float* x, float* y, int n) {
    cudaDeviceSynchronize();
}
