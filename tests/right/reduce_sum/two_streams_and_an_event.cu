// Each half of the input is added up on a stream of its own, and an event makes the second wait for the first before
// the two sums are added. Both streams read the same array, and write elements of one scratch array.
__global__ void add_up(const float* input, float* total, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) atomicAdd(total, input[i]);
}
__global__ void hand_over(const float* totals, float* output) { *output = totals[0] + totals[1]; }

void solve(const float* input, float* output, int n) {
    cudaStream_t first, second;
    cudaEvent_t done;
    cudaStreamCreate(&first);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreate(&done);
    int half = (n + 1) / 2;
    float* totals;
    cudaMalloc(&totals, 2 * sizeof(float));
    cudaMemsetAsync(totals, 0, sizeof(float), first);
    cudaMemsetAsync(totals + 1, 0, sizeof(float), second);
    add_up<<<(half + 255) / 256, 256, 0, first>>>(input, totals, half);
    if (n > half) add_up<<<(n - half + 255) / 256, 256, 0, second>>>(input + half, totals + 1, n - half);
    cudaEventRecord(done, first);
    cudaStreamWaitEvent(second, done, 0);
    hand_over<<<1, 1, 0, second>>>(totals, output);
    cudaStreamSynchronize(second);
    cudaFree(totals);
    cudaEventDestroy(done);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
}
