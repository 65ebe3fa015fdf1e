// expect: refused
// says: device
// line: 14
// solve reads device memory, as a host can't.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n - 1);
    c[n - 1] = a[n - 1] + b[n - 1];
}
