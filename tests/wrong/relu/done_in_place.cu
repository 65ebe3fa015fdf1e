// expect: input_changed
// says: x
// Works on x and copies it to y.
__global__ void relu(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] < 0.0f) {
        x[i] = 0.0f;
    }
}

void solve(float* x, float* y, int n) {
    relu<<<(n + 255) / 256, 256>>>(x, n);
    cudaMemcpy(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
}
