// expect: out_of_bounds
// says: past the end of
// line: 8
// i <= n where i < n is meant.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {
        c[i] = a[i] + b[i];
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 256) / 256, 256>>>(a, b, c, n);
}
