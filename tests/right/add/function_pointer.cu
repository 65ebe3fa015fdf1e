// The operation is called through a pointer that each thread picks from a table of device functions.
// Right, because both entries compute the same sum, and nothing after the call needs the warp to be together.
typedef float (*Operation)(float, float);

__device__ __noinline__ float left_plus_right(float x, float y) { return x + y; }
__device__ __noinline__ float right_plus_left(float x, float y) { return y + x; }
__device__ Operation operations[2] = {left_plus_right, right_plus_left};

__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = operations[i % 3 % 2](a[i], b[i]);
}

void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
