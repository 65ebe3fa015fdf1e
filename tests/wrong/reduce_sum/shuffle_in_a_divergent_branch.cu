// expect: missing_lanes
// says: named in the mask
// line: 15
// The full mask names lanes that did not enter the branch and wait at the barrier behind it.
__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float total;
    if (threadIdx.x == 0) {
        total = 0.0f;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float value = input[i];
        for (int offset = 16; offset > 0; offset /= 2) {
            value += __shfl_down_sync(0xffffffffu, value, offset);
        }
        if (threadIdx.x % 32 == 0) {
            atomicAdd(&total, value);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(output, total);
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n);
}
