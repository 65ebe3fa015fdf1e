// expect: uninitialised
// says: it counts bytes, not elements
// line: 7
// cudaMemcpy is given n, the number of elements, and copies a quarter of them.
__global__ void relu(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(y[i], 0.0f);
}
void solve(const float* x, float* y, int n) {
    cudaMemcpy(y, x, n, cudaMemcpyDeviceToDevice);
    relu<<<(n + 255) / 256, 256>>>(y, n);
}
