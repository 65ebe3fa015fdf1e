// Three blocks of four leave at once; the others walk the arrays with a stride of all that work.
// Right, because every element is somebody's, and only how the blocks share the work out is unusual: a few of them,
// looked at alone, don't stand for all.
__global__ void add(const float* a, const float* b, float* c, int n) {
    if (blockIdx.x % 4) return;
    int stride = gridDim.x / 4 * blockDim.x;
    for (int i = blockIdx.x / 4 * blockDim.x + threadIdx.x; i < n; i += stride) c[i] = a[i] + b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<4000, 256>>>(a, b, c, n);
}
