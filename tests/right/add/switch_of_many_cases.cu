// Lanes of a warp go to eight cases of a switch, which the compiler makes a table of jumps, and meet again after it.
// Right, because the __syncwarp behind the switch is reached by every lane, whichever way it came.
__global__ void add(const float* a, const float* b, float* c, int n) {
    __shared__ float kept[4][32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float x = i < n ? a[i] : 0.0f, y = i < n ? b[i] : 0.0f, sum;
    switch (i & 7) {
        case 0: sum = x + y; break;
        case 1: sum = y + x; break;
        case 2: sum = x - -y; break;
        case 3: sum = y - -x; break;
        case 4: sum = -(-x - y); break;
        case 5: sum = -(-y - x); break;
        case 6: sum = fmaf(x, 1.0f, y); break;
        default: sum = fmaf(1.0f, y, x); break;
    }
    kept[warp][lane] = sum;
    __syncwarp();
    if ((i ^ 31) < n) c[i ^ 31] = kept[warp][lane ^ 31];
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 127) / 128, 128>>>(a, b, c, n);
}
