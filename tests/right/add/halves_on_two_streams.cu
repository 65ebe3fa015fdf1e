// The two halves run on streams of their own, which need not wait for each other: they read and write other elements.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
void solve(const float* a, const float* b, float* c, int n) {
    static cudaStream_t streams[2];
    static bool created = false;
    if (!created) {
        for (cudaStream_t& stream : streams) cudaStreamCreate(&stream);
        created = true;
    }
    int half = (n + 1) / 2;
    add<<<(half + 255) / 256, 256, 0, streams[0]>>>(a, b, c, half);
    if (n > half) add<<<(n - half + 255) / 256, 256, 0, streams[1]>>>(a + half, b + half, c + half, n - half);
    for (cudaStream_t stream : streams) cudaStreamSynchronize(stream);
}
