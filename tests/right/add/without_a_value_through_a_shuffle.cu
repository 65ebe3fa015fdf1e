// Threads beyond n give a variable without a value to the shuffle.
// Right, because every thread takes its own back, and those beyond n drop it.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum;
    if (i < n) sum = a[i] + b[i];
    float same = __shfl_sync(0xffffffffu, sum, threadIdx.x % 32);
    if (i < n) c[i] = same;
}

void solve(const float* a, const float* b, float* c, int n) { add<<<(n + 255) / 256, 256>>>(a, b, c, n); }
