// finds: few_warps
// says: warps fit a multiprocessor: no more shared memory
__global__ void add(const float* a, const float* b, float* c, int n) {
    extern __shared__ float kept[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    kept[threadIdx.x] = i < n ? a[i] : 0.0f;
    if (i < n) c[i] = kept[threadIdx.x] + b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 63) / 64, 64, 40000>>>(a, b, c, n);
}
