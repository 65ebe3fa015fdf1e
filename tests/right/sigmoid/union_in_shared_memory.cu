// A union of two layouts in shared memory, larger than either use of it: its tail is never written nor read.
// Right, because the first layout is done with when the second begins, and one barrier says so.
constexpr int kThreads = 128;

union Stage {
    struct {
        float value[kThreads];
        char spare[1000];
    } in;
    float2 out[2 * kThreads];
};

__global__ void sigmoid(const float* x, float* y, int n) {
    __shared__ Stage stage;
    int i = blockIdx.x * kThreads + threadIdx.x, other = threadIdx.x ^ 127;
    stage.in.value[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    float value = stage.in.value[other];
    __syncthreads();
    stage.out[other].x = 1.0f + expf(-value);  // .y stays as it is, and goes along in the copy below
    __syncthreads();
    float2 mine = stage.out[threadIdx.x];
    if (i < n) y[i] = 1.0f / mine.x;
}

void solve(const float* x, float* y, int n) {
    sigmoid<<<(n + kThreads - 1) / kThreads, kThreads>>>(x, y, n);
}
