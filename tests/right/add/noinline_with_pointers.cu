// Two functions that are really called, one writing through pointers to the caller's locals.
// Right, because every local is written before it is read, if by somebody else.
struct Pair {
    float x, y;
};

__device__ __noinline__ bool load(const float* a, const float* b, int i, int n, Pair* pair) {
    if (i >= n) return false;  // the pair stays as it was, and the caller must not look
    pair->x = a[i];
    pair->y = b[i];
    return true;
}

__device__ __noinline__ void store(float* c, int i, Pair pair) { c[i] = pair.x + pair.y; }

__global__ __launch_bounds__(128, 4) void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Pair pair;
    if (load(a, b, i, n, &pair)) store(c, i, pair);
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 127) / 128, 128>>>(a, b, c, n);
}
