// expect: refused
// says: void solve(const float* a, const float* b, float* c, int n)
// line: 12
// The parameters are in another order than the question's.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

void solve(const float* a, const float* b, int n, float* c) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
