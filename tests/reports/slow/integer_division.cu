// finds: integer_division
// line: 8
// says: twenty instructions
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = i;
    for (int step = 1; step < 64; step++) x += n % (x + step);
    c[i] = x + a[i] + b[i];
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
