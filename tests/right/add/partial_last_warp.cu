// Blocks of 33: the second warp of every block has one thread, and the last block may have none with work.
// Right, because the guard is on the element and nothing is asked of the lanes that are not there.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 32) / 33, 33>>>(a, b, c, n);
}
