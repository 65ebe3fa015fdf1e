// finds: barriers
// line: 9
// says: __shfl_down_sync
__global__ void sum(const float* a, float* c, int n) {
    __shared__ float part[1024];
    int thread = threadIdx.x, i = blockIdx.x * 1024 + thread;
    part[thread] = i < n ? a[i] : 0.0f;
    for (int half = 512; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) part[thread] += part[thread + half];
    }
    if (thread == 0) c[blockIdx.x] = part[0];
}

void solve(const float* a, const float* b, float* c, int n) {
    sum<<<(n + 1023) / 1024, 1024>>>(a, c, n);
}
