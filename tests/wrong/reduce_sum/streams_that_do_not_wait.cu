// expect: differs_between_runs
// says: wrong in the first call and right in the second
// The total is handed over on another stream than the one it is made on, and nothing makes that one wait.
__global__ void add_up(const float* input, float* total, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) atomicAdd(total, input[i]);
}
__global__ void hand_over(const float* total, float* output) { *output = *total; }

void solve(const float* input, float* output, int n) {
    cudaStream_t adding, handing;
    cudaStreamCreate(&adding);
    cudaStreamCreate(&handing);
    float* total;
    cudaMalloc(&total, sizeof(float));
    cudaMemset(total, 0, sizeof(float));
    add_up<<<(n + 255) / 256, 256, 0, adding>>>(input, total, n);
    hand_over<<<1, 1, 0, handing>>>(total, output);
    cudaDeviceSynchronize();
    cudaFree(total);
    cudaStreamDestroy(adding);
    cudaStreamDestroy(handing);
}
