// finds: bank_conflict_load
// line: 9
// says: 33 floats instead of 32
__global__ void add(const float* a, const float* b, float* c, int n) {
    __shared__ float tile[32][32];
    int x = threadIdx.x, y = threadIdx.y, i = (blockIdx.x * 32 + y) * 32 + x;
    tile[y][x] = i < n ? a[i] : 0.0f;
    __syncthreads();
    float turned = tile[x][y];
    if (i < n) c[i] = turned + b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 1023) / 1024, dim3(32, 32)>>>(a, b, c, n);
}
