// expect: compile_error
// says: expected a ";"
// line: 5
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
