// finds: loaded_again
// says: Bring it into shared memory
__global__ void smooth(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = b[i];
    for (int step = 0; step < 96; step++) sum += a[min(i + step, n - 1)];
    c[i] = sum;
}

void solve(const float* a, const float* b, float* c, int n) {
    smooth<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
