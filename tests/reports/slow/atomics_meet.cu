// finds: atomics_meet
// line: 6
// says: 32 lanes of a warp meet on one address
__global__ void sum(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(c, a[i]);
}

void solve(const float* a, const float* b, float* c, int n) {
    sum<<<(n + 255) / 256, 256>>>(a, c, n);
}
