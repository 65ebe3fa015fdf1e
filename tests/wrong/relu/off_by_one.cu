// expect: shifted
// says: belongs in
// Indices start at 1 on the reading side.
__global__ void relu(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int next = i + 1 < n ? i + 1 : 0;
        y[i] = fmaxf(x[next], 0.0f);
    }
}

void solve(const float* x, float* y, int n) {
    relu<<<(n + 255) / 256, 256>>>(x, y, n);
}
