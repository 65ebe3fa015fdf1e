// What a call needs besides its inputs is set up by the first one and kept: shared memory over 48 KB is allowed once,
// scratch is allocated once and never freed, and a table is uploaded into it once. Later calls only launch.
constexpr int kThreads = 512, kShared = 64 * 1024;

struct Context {
    float* partial;
    float* weights;
    int blocks;
};

__global__ void partials(const float* input, float* partial, int n) {
    extern __shared__ float values[];
    int thread = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * kThreads + thread; i < n; i += gridDim.x * kThreads) sum += input[i];
    values[thread] = sum;
    for (int s = kThreads / 2; s > 0; s /= 2) {
        __syncthreads();
        if (thread < s) values[thread] += values[thread + s];
    }
    if (thread == 0) partial[blockIdx.x] = values[0];
}

__global__ void total(const float* partial, const float* weights, float* output, int blocks) {
    float sum = 0.0f;
    for (int i = 0; i < blocks; ++i) sum += weights[i % 4] * partial[i];
    *output = sum;
}

void solve(const float* input, float* output, int n) {
    static bool allowed = false;
    static Context context;
    if (!allowed) {
        cudaFuncSetAttribute(partials, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
        const float ones[4] = {1.0f, 1.0f, 1.0f, 1.0f};
        context.blocks = 16;
        cudaMalloc(&context.partial, context.blocks * sizeof(float));
        cudaMalloc(&context.weights, sizeof(ones));
        cudaMemcpy(context.weights, ones, sizeof(ones), cudaMemcpyHostToDevice);
        allowed = true;
    }
    partials<<<context.blocks, kThreads, kShared>>>(input, context.partial, n);
    total<<<1, 1>>>(context.partial, context.weights, output, context.blocks);
}
