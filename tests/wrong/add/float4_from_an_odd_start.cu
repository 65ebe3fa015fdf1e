// expect: misaligned
// says: 16
// line: 13
// The odd elements come first, so that every float4 after them starts in the middle of 16 bytes.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int odd = n % 4;
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < odd) {
        c[thread] = a[thread] + b[thread];
    }
    int i = odd + 4 * thread;
    if (i < n) {
        float4 x = *reinterpret_cast<const float4*>(a + i);
        float4 y = *reinterpret_cast<const float4*>(b + i);
        *reinterpret_cast<float4*>(c + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 1023) / 1024, 256>>>(a, b, c, n);
}
