// A grid of one block, and a vector of any length: each thread takes every 1024th element.
// Right, because the stride is the number of threads, so each element has one owner.
__global__ void add(const float* a, const float* b, float* c, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) c[i] = a[i] + b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<1, 1024>>>(a, b, c, n);
}
