// expect: out_of_bounds
// says: past the end of input
// line: 8
// The number of float4 is rounded up.
__global__ void reduce_sum(const float* input, float* output, int chunks) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < chunks) {
        float4 v = reinterpret_cast<const float4*>(input)[i];
        atomicAdd(output, (v.x + v.y) + (v.z + v.w));
    }
}

void solve(const float* input, float* output, int n) {
    int chunks = (n + 3) / 4;
    reduce_sum<<<(chunks + 255) / 256, 256>>>(input, output, chunks);
}
