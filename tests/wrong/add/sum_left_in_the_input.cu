// expect: input_changed
// says: a
// The sum is made in place and copied: right, but a is no longer what it was.
__global__ void add(float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        a[i] += b[i];
        c[i] = a[i];
    }
}

void solve(float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
