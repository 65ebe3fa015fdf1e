// finds: one_element
// says: Each thread loads one element
__global__ void turn(const float* a, const float* b, float* c, int n) {
    __shared__ float tile[32][33];
    int x = threadIdx.x, y = threadIdx.y, i = (blockIdx.x * 32 + y) * 32 + x;
    tile[y][x] = i < n ? a[i] : 0.0f;
    __syncthreads();
    if (i < n) c[i] = tile[x][y];
}

void solve(const float* a, const float* b, float* c, int n) {
    turn<<<(n + 1023) / 1024, dim3(32, 32)>>>(a, b, c, n);
}
