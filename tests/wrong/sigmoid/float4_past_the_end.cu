// expect: out_of_bounds
// says: past the end of y
// line: 12
// The last float4 is assembled from what is there, and stored whole.
__global__ void sigmoid(const float* x, float* y, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        float v[4];
        for (int k = 0; k < 4; ++k) {
            v[k] = i + k < n ? 1.0f / (1.0f + expf(-x[i + k])) : 0.0f;
        }
        *reinterpret_cast<float4*>(y + i) = make_float4(v[0], v[1], v[2], v[3]);
    }
}

void solve(const float* x, float* y, int n) {
    sigmoid<<<(n + 1023) / 1024, 256>>>(x, y, n);
}
