// y[i] = 1 / (1 + e^-x[i])
// The question: kata show sigmoid. When ready: kata check sigmoid

__global__ void sigmoid(const float* x, float* y, int n) {
    // Your kernel here.
}

// All pointers are device pointers. Choose a grid and a block, and launch.
void solve(const float* x, float* y, int n) {
}
