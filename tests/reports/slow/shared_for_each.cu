// finds: shared_for_each
// line: 12
// says: Every multiply-add reads shared memory
__global__ void weigh(const float* a, const float* b, float* c, int n) {
    __shared__ float kept[256], weights[256];
    int thread = threadIdx.x, i = blockIdx.x * 256 + thread;
    kept[thread] = i < n ? a[i] : 0.0f;
    weights[thread] = i < n ? b[i] : 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 256; k++)
        sum += kept[(thread + k) % 256] * weights[k];
    if (i < n) c[i] = sum;
}

void solve(const float* a, const float* b, float* c, int n) {
    weigh<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
