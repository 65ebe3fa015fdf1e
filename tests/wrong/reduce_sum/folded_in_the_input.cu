// expect: input_changed
// says: input
// The input itself serves as scratch memory: one launch for each step of the tree.
__global__ void fold(float* data, int half, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + half < n) {
        data[i] += data[i + half];
    }
}

void solve(float* input, float* output, int n) {
    while (n > 1) {
        int half = (n + 1) / 2;
        fold<<<(half + 255) / 256, 256>>>(input, half, n);
        n = half;
    }
    cudaMemcpy(output, input, sizeof(float), cudaMemcpyDeviceToDevice);
}
