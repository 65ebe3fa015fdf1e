// expect: no_launch
// says: only the first call
// line: 11
// A static variable that should guard what is set up once guards the launch too.
__global__ void reduce_sum(const float* input, float* output, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) atomicAdd(output, input[i]);
}
void solve(const float* input, float* output, int n) {
    static bool done = false;
    if (!done) reduce_sum<<<(n + 255) / 256, 256>>>(input, output, n);
    done = true;
}
