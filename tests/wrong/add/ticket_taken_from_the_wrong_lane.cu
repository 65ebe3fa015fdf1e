// expect: uninitialised
// says: before it has a value
// line: 11
// Lane 0 draws its warp's ticket, and the shuffle hands round that of lane 1, which drew none.
__global__ void add(const float* a, const float* b, float* c, int* next, int n) {
    int lane = threadIdx.x % 32;
    while (true) {
        int first;
        if (lane == 0) first = atomicAdd(next, 32);
        first = __shfl_sync(0xffffffffu, first, 1);
        if (first >= n) return;
        if (first + lane < n) c[first + lane] = a[first + lane] + b[first + lane];
    }
}

void solve(const float* a, const float* b, float* c, int n) {
    int* next;
    cudaMalloc(&next, sizeof(int));
    cudaMemset(next, 0, sizeof(int));
    add<<<64, 128>>>(a, b, c, next, n);
    cudaFree(next);
}
