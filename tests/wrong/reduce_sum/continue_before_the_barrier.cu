// expect: barrier
// says: go around the __syncthreads() on line 16
// line: 16
// Threads whose element lies beyond the end go on to the next chunk without the barriers of this one.
__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float chunk[256];
    __shared__ float total;
    int thread = threadIdx.x;
    if (thread == 0) total = 0.0f;
    __syncthreads();
    int chunks = (n + 255) / 256;
    for (int c = blockIdx.x; c < chunks; c += gridDim.x) {
        int left = n - 256 * c;
        if (thread >= left) continue;
        chunk[thread] = input[256 * c + thread];
        __syncthreads();
        if (thread == 0) {
            float sum = 0.0f;
            for (int k = 0; k < min(left, 256); ++k) sum += chunk[k];
            total += sum;
        }
        __syncthreads();
    }
    if (thread == 0) atomicAdd(output, total);
}

void solve(const float* input, float* output, int n) {
    int chunks = (n + 255) / 256;
    reduce_sum<<<chunks < 64 ? chunks : 64, 256>>>(input, output, n);
}
