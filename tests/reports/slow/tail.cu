// finds: tail
// says: The last of 2 waves
__global__ void add(const float* a, const float* b, float* c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float x = a[i];
        for (int step = 0; step < 100; step++) x = x * 0.999f + b[i];
        c[i] = x;
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<108 * 2 + 10, 1024>>>(a, b, c, n);
}
