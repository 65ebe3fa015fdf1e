// Rung 1: three kernels, atomics for maximum and sum
//
// The formula as it stands: the maximum, then the sum of e^(x - max), then one division for
// each element. A kernel boundary is the only barrier of the whole grid, so each step is a
// kernel, and two words of scratch memory carry the results over. Subtracting the maximum keeps
// every exponential at most 1: e^89 is already infinite in float.
// A thread takes eight elements before its one atomic. That is for the rounding: a million
// additions one after another into one float, of values that repeat, all round the same way.
// What still costs: n / 8 atomics on the same address, twice (CUDA has no atomicMax for float: a
// compare-and-swap loop stands in), three reads of the input, and two exponentials an element.

constexpr int kPerThread = 8;

__device__ void atomic_max(float* address, float value) {
    unsigned* word = reinterpret_cast<unsigned*>(address);
    unsigned seen = __float_as_uint(-INFINITY);  // a guess; the first exchange tells what is really there
    while (value > __uint_as_float(seen)) {
        unsigned assumed = seen;
        seen = atomicCAS(word, assumed, __float_as_uint(value));
        if (seen == assumed) {
            return;
        }
    }
}

__global__ void find_max(const float* input, float* max, int n) {
    int threads = gridDim.x * blockDim.x;
    float largest = -INFINITY;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
        largest = fmaxf(largest, input[i]);
    }
    atomic_max(max, largest);
}

__global__ void find_sum(const float* input, const float* max, float* sum, int n) {
    int threads = gridDim.x * blockDim.x;
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    float mine = 0.0f;
    for (int i = first; i < n; i += threads) {
        mine += expf(input[i] - *max);
    }
    if (first < n) {
        atomicAdd(sum, mine);
    }
}

__global__ void normalise(const float* input, const float* max, const float* sum, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        output[i] = expf(input[i] - *max) / *sum;
    }
}

void solve(const float* input, float* output, int n) {
    int block = 256;
    int grid = (n + block - 1) / block;
    int few = (n + kPerThread * block - 1) / (kPerThread * block);
    float* scratch;  // the maximum, then the sum
    cudaMalloc(&scratch, 2 * sizeof(float));
    cudaMemcpy(scratch, input, sizeof(float), cudaMemcpyDeviceToDevice);  // any element will do to start a maximum
    cudaMemset(scratch + 1, 0, sizeof(float));
    find_max<<<few, block>>>(input, scratch, n);
    find_sum<<<few, block>>>(input, scratch, scratch + 1, n);
    normalise<<<grid, block>>>(input, scratch, scratch + 1, output, n);
    cudaFree(scratch);
}
