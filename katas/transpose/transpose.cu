// output[c][r] = input[r][c]: output[c * rows + r] = input[r * cols + c]
// The question in full: kata show transpose. When you are ready: kata check transpose

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    // Your kernel here.
}

// All pointers are device pointers. Choose a grid and a block, and launch your kernel.
void solve(const float* input, float* output, int rows, int cols) {
}
