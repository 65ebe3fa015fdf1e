// expect: missing_lanes
// says: named in the mask
// line: 15
// Half of each warp leaves before the others exchange: the full mask names lanes that never come.
__global__ void relu(const float* x, float* y, int n) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    float first = i < n ? x[i] : 0.0f, second = i + 1 < n ? x[i + 1] : 0.0f;
    bool works = threadIdx.x % 4 < 2;
    unsigned workers = __ballot_sync(0xffffffffu, works);
    if (!works) {
        if (i < n) y[i] = fmaxf(first, 0.0f);
        if (i + 1 < n) y[i + 1] = fmaxf(second, 0.0f);
        return;
    }
    float theirs = __shfl_xor_sync(0xffffffffu, fmaxf(first, 0.0f), 1);
    first = __shfl_xor_sync(0xffffffffu, theirs, 1);
    if (i < n) y[i] = first;
    if (i + 1 < n) y[i + 1] = fmaxf(second, 0.0f);
}

void solve(const float* x, float* y, int n) {
    relu<<<(n + 255) / 256, 128>>>(x, y, n);
}
