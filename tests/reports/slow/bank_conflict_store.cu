// finds: bank_conflict_store
// line: 7
// says: 32-way bank conflict
__global__ void add(const float* a, const float* b, float* c, int n) {
    __shared__ float tile[32][32];
    int x = threadIdx.x, y = threadIdx.y, i = (blockIdx.x * 32 + y) * 32 + x;
    tile[x][y] = i < n ? a[i] : 0.0f;
    __syncthreads();
    if (i < n) c[i] = tile[y][x] + b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 1023) / 1024, dim3(32, 32)>>>(a, b, c, n);
}
