// expect: launch
// says: grid and block swapped
// line: 14
// <<<block, grid>>> is right while the grid is small enough to pass for a block.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    dim3 block(256), grid((n + 255) / 256);
    add<<<block, grid>>>(a, b, c, n);
}
