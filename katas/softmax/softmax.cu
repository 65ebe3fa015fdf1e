// output[i] = e^input[i] / (e^input[0] + ... + e^input[n - 1])
// The question: kata show softmax. When ready: kata check softmax

__global__ void softmax(const float* input, float* output, int n) {
    // Your kernel here.
}

// All pointers are device pointers. Choose a grid and a block, and launch.
void solve(const float* input, float* output, int n) {
}
