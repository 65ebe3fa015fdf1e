// output[i] = e^input[i] / (e^input[0] + ... + e^input[n - 1])
// The question in full: kata show softmax. When you are ready: kata check softmax

__global__ void softmax(const float* input, float* output, int n) {
    // Your kernel here.
}

// All pointers are device pointers. Choose a grid and a block, and launch your kernel.
void solve(const float* input, float* output, int n) {
}
