// expect: missing_lanes
// says: went another way at the branch on line 8 and left the kernel
// line: 10
// A vote in one branch names all lanes, but those in the other branch write their element and leave without voting.
__global__ void relu(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? x[i] : 0.0f;
    if (threadIdx.x % 2 == 0) {
        float kept = fmaxf(value, 0.0f);
        if (__any_sync(0xffffffffu, value > 0.0f)) value = kept;
        if (i < n) y[i] = kept;
    } else if (i < n) {
        y[i] = fmaxf(value, 0.0f);
    }
}

void solve(const float* x, float* y, int n) {
    relu<<<(n + 127) / 128, 128>>>(x, y, n);
}
