// expect: launch
// says: grid
// line: 14
// n / 4 chunks, rounded down: none when n < 4.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        c[i] = a[i] + b[i];
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    int chunks = n / 4;
    add<<<(chunks + 255) / 256, 256>>>(a, b, c, n);
}
