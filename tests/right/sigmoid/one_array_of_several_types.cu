// The same dynamic shared memory is bytes, then floats, then doubles, then integers.
// Right, because a barrier ends each use before the next begins, and nothing is read through a type other than it was
// written in, but for the last step, which means the bits.
constexpr int kThreads = 96;

__global__ void sigmoid(const float* x, float* y, int n) {
    extern __shared__ __align__(16) unsigned char raw[];
    float* floats = reinterpret_cast<float*>(raw);
    double* doubles = reinterpret_cast<double*>(raw);
    unsigned* words = reinterpret_cast<unsigned*>(raw);
    int i = blockIdx.x * kThreads + threadIdx.x;
    int other = kThreads - 1 - threadIdx.x;

    raw[threadIdx.x] = i < n && x[i] < 0.0f;
    __syncthreads();
    bool negative = raw[other];
    __syncthreads();
    floats[threadIdx.x] = i < n ? fabsf(x[i]) : 0.0f;
    __syncthreads();
    float size = floats[other];
    __syncthreads();
    doubles[other] = expf(-size);
    __syncthreads();
    double e = doubles[other];
    float result = static_cast<float>((negative ? e : 1.0) / (1.0 + e));
    __syncthreads();
    words[other] = __float_as_uint(result);
    __syncthreads();
    if (i < n) y[i] = floats[threadIdx.x];
}

void solve(const float* x, float* y, int n) {
    sigmoid<<<(n + kThreads - 1) / kThreads, kThreads, kThreads * sizeof(double)>>>(x, y, n);
}
