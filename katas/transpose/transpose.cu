// output[c][r] = input[r][c]: output[c * rows + r] = input[r * cols + c]
// The question: kata show transpose. When ready: kata check transpose

__global__ void transpose(const float* input, float* output,
                          int rows, int cols) {
    // Your kernel here.
}

// All pointers are device pointers. Choose a grid and a block, and launch.
void solve(const float* input, float* output, int rows, int cols) {
}
