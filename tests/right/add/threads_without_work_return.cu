// Threads past the end return at once: single lanes of a warp, whole warps, and (the grid is too large) whole blocks.
// Right, because no barrier or shuffle follows that could miss them.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = a[i];
    sum += b[i];
    c[i] = sum;
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<n / 512 + 3, 512>>>(a, b, c, n);
}
