// expect: launch
// says: 1,024 is the most
// line: 13
// No GPU runs more than 1024 threads in a block.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 2047) / 2048, 2048>>>(a, b, c, n);
}
