// expect: second_call
// says: right in the first call and wrong in the second
// Scratch is allocated once, and cleared only then: the second sum starts from the first.
__global__ void add_up(const float* input, float* total, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) atomicAdd(total, input[i]);
}
__global__ void hand_over(const float* total, float* output) { *output = *total; }
void solve(const float* input, float* output, int n) {
    static float* total = nullptr;
    if (total == nullptr) {
        cudaMalloc(&total, sizeof(float));
        cudaMemset(total, 0, sizeof(float));
    }
    add_up<<<(n + 255) / 256, 256>>>(input, total, n);
    hand_over<<<1, 1>>>(total, output);
}
