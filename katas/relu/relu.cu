// y[i] = max(x[i], 0)
// The question: kata show relu. When ready: kata check relu

__global__ void relu(const float* x, float* y, int n) {
    // Your kernel here.
}

// All pointers are device pointers. Choose a grid and a block, and launch.
void solve(const float* x, float* y, int n) {
}
