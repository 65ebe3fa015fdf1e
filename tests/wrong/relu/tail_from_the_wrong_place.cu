// expect: tail
// says: last
// The tail loop starts at n - n % 4 of the chunk count instead of the element count.
__global__ void relu(const float* x, float* y, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int chunks = n / 4;
    if (thread < chunks) {
        float4 v = reinterpret_cast<const float4*>(x)[thread];
        reinterpret_cast<float4*>(y)[thread] =
            make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
    }
    int tail = chunks + thread;
    if (thread < n % 4) {
        y[tail] = fmaxf(x[tail], 0.0f);
    }
}

void solve(const float* x, float* y, int n) {
    relu<<<(n + 1023) / 1024, 256>>>(x, y, n);
}
