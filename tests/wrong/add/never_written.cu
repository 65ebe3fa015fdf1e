// expect: never_written
// says: nothing was ever written to c
// The sum goes into a copy of the pointer's element, which is a register.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float out = a[i] + b[i];
        if (out != out) {
            c[i] = out;
        }
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
