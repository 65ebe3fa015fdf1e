// __syncthreads_count, _and and _or as barriers that also tell: a tile without a negative value is copied, one without
// a positive value is cleared, and only a mixed one is looked at element by element.
// Right, because every thread of the block calls them, those past the end too.
__global__ void relu(const float* x, float* y, int n) {
    __shared__ float tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    int positive = __syncthreads_count(tile[threadIdx.x] > 0.0f);
    float other = tile[255 - threadIdx.x];
    int there = blockIdx.x * 256 + 255 - threadIdx.x;
    bool all_kept = __syncthreads_and(other >= 0.0f);
    bool any_left = __syncthreads_or(there < n);
    if (!any_left || there >= n) return;
    y[there] = positive == 0 ? 0.0f : all_kept || other > 0.0f ? other : 0.0f;
}

void solve(const float* x, float* y, int n) {
    relu<<<(n + 255) / 256, 256>>>(x, y, n);
}
