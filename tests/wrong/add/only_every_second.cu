// expect: every_nth
// says: element 1 of every 2
// Each thread is meant to add two elements, and adds one.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 511) / 512, 256>>>(a, b, c, n);
}
