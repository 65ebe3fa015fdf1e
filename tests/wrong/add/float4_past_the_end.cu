// expect: out_of_bounds
// says: past the end of
// line: 8
// The last float4 is loaded whole, though n is no multiple of four.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        float4 x = *reinterpret_cast<const float4*>(a + i);
        float4 y = *reinterpret_cast<const float4*>(b + i);
        *reinterpret_cast<float4*>(c + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 1023) / 1024, 256>>>(a, b, c, n);
}
