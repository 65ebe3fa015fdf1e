// Maximum of floats by an atomicCAS loop on their bits, in __device__ variables that one thread sets at the start of
// each call.
// Right, because the loop ends when nobody came between or when the value there is already as large; launches of one
// stream see each other's variables.
__device__ float highest, sum;

__device__ void atomic_max(float* address, float value) {
    int* bits = reinterpret_cast<int*>(address);
    int seen = *static_cast<volatile int*>(bits);
    while (__int_as_float(seen) < value) {
        int expected = seen;
        seen = atomicCAS(bits, expected, __float_as_int(value));
        if (seen == expected) break;
    }
}

__global__ void begin() {
    highest = -INFINITY;
    sum = 0.0f;
}

__global__ void find_highest(const float* input, int n) {
    float mine = -INFINITY;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine = fmaxf(mine, input[i]);
    atomic_max(&highest, mine);
}

__global__ void add_up(const float* input, int n) {
    float mine = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += expf(input[i] - highest);
    atomicAdd(&sum, mine);
}

__global__ void normalise(const float* input, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) output[i] = expf(input[i] - highest) / sum;
}

void solve(const float* input, float* output, int n) {
    begin<<<1, 1>>>();
    find_highest<<<8, 64>>>(input, n);
    add_up<<<8, 64>>>(input, n);
    normalise<<<(n + 255) / 256, 256>>>(input, output, n);
}
