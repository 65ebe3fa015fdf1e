// Threads add what they have to one of three bins, by its sign: lanes whose keys are equal find each other by
// __match_any_sync, add up among themselves, and one of them does the atomic.
// Right, because a lane shuffles with just its equals, which all run the same number of steps, and reads only from
// them.
__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float bins[3];
    if (threadIdx.x < 3) bins[threadIdx.x] = 0.0f;
    __syncthreads();
    float value = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += input[i];
    int key = value > 0.0f ? 2 : value < 0.0f ? 1 : 0;
    unsigned equals = __match_any_sync(0xffffffffu, key);
    float sum = 0.0f;
    for (unsigned left = equals; left != 0; left &= left - 1) sum += __shfl_sync(equals, value, __ffs(left) - 1);
    if (threadIdx.x % 32 == __ffs(equals) - 1) atomicAdd(&bins[key], sum);
    __syncthreads();
    if (threadIdx.x < 3) atomicAdd(output, bins[threadIdx.x]);
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 255) / 256;
    reduce_sum<<<blocks < 40 ? blocks : 40, 256>>>(input, output, n);
}
