// Lanes put their signs together by __reduce_or_sync, and say how many are positive by __reduce_add_sync; a warp with
// none skips the loads of the second half.
// Right, because both are called by the whole warp, and the decision is the same for all of its lanes.
__global__ void relu(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    bool positive = i < n && x[i] > 0.0f;
    unsigned mask = __reduce_or_sync(0xffffffffu, static_cast<unsigned>(positive) << lane);
    unsigned count = __reduce_add_sync(0xffffffffu, static_cast<unsigned>(positive));
    if (count == 0) {
        if (i < n) y[i] = 0.0f;
        return;
    }
    // Lane k moves what the k-th of the warp's positive elements is worth; the others are cleared by their own lane.
    int place = lane < count ? __fns(mask, 0, lane + 1) : lane;
    int base = i - lane;
    if (lane < count) y[base + place] = x[base + place];
    if (i < n && !positive) y[i] = 0.0f;
}

void solve(const float* x, float* y, int n) {
    relu<<<(n + 191) / 192, 192>>>(x, y, n);
}
