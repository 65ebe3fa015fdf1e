// expect: tail
// says: last 232 of 1000 elements
// The grid is rounded down, and one block at least: elements beyond the last full block are left.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    int grid = n / 256;
    add<<<grid > 0 ? grid : 1, 256>>>(a, b, c, n);
}
