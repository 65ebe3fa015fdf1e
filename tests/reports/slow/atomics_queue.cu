// finds: atomics_queue
// line: 8
// says: queue at one address
__global__ void sum(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i < n ? a[i] : 0.0f;
    for (int lane = 16; lane; lane /= 2) x += __shfl_down_sync(0xffffffff, x, lane);
    if (threadIdx.x % 32 == 0) atomicAdd(c, x);
}

void solve(const float* a, const float* b, float* c, int n) {
    sum<<<(n + 255) / 256, 256>>>(a, c, n);
}
