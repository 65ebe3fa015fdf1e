// expect: tail
// says: counts twice
// The scalar loop starts one group of four too early.
__global__ void reduce_sum(const float* input, float* output, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int chunks = n / 4;
    if (thread < chunks) {
        float4 v = reinterpret_cast<const float4*>(input)[thread];
        atomicAdd(output, (v.x + v.y) + (v.z + v.w));
    }
    int rest = n % 4;
    if (thread < rest) {
        atomicAdd(output, 2.0f * input[n - 1 - thread]);
    }
}

void solve(const float* input, float* output, int n) {
    reduce_sum<<<(n + 1023) / 1024, 256>>>(input, output, n);
}
