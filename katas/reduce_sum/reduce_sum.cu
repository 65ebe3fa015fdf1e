// output[0] = input[0] + ... + input[n - 1]
// The question: kata show reduce_sum. When ready: kata check reduce_sum

__global__ void reduce_sum(const float* input, float* output, int n) {
    // Your kernel here.
}

// All pointers are device pointers. Choose a grid and a block, and launch.
void solve(const float* input, float* output, int n) {
}
