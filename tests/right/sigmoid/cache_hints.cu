// Every load and store says how it should be cached: read-only, streaming, last use, write-through.
// Right, because a hint changes what it costs, not what it does; four elements go by each kind in turn.
__global__ void sigmoid(const float* __restrict__ x, float* __restrict__ y, int n) {
    int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    int at[4] = {first, first + (int)blockDim.x, first + 2 * (int)blockDim.x, first + 3 * (int)blockDim.x};
    float value[4] = {};
    if (at[0] < n) value[0] = __ldg(x + at[0]);
    if (at[1] < n) value[1] = __ldcs(x + at[1]);
    if (at[2] < n) value[2] = __ldcg(x + at[2]);
    if (at[3] < n) value[3] = __ldlu(x + at[3]);
#pragma unroll
    for (int k = 0; k < 4; ++k) value[k] = 1.0f / (1.0f + expf(-value[k]));
    if (at[0] < n) __stcs(y + at[0], value[0]);
    if (at[1] < n) __stcg(y + at[1], value[1]);
    if (at[2] < n) __stwt(y + at[2], value[2]);
    if (at[3] < n) __stwb(y + at[3], value[3]);
}

void solve(const float* x, float* y, int n) {
    sigmoid<<<(n + 511) / 512, 128>>>(x, y, n);
}
