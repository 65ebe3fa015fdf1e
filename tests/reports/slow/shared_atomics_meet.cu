// finds: shared_atomics_meet
// line: 9
// says: 32 lanes of a warp
__global__ void sum(const float* a, float* c, int n) {
    __shared__ float total;
    int thread = threadIdx.x;
    if (thread == 0) total = 0.0f;
    __syncthreads();
    for (int i = blockIdx.x * 4096 + thread; i < min(n, (blockIdx.x + 1) * 4096); i += 256) atomicAdd(&total, a[i]);
    __syncthreads();
    if (thread == 0) c[blockIdx.x] = total;
}

void solve(const float* a, const float* b, float* c, int n) {
    sum<<<(n + 4095) / 4096, 256>>>(a, c, n);
}
