// A kernel template that takes what to do as an object by value, and hands a lambda with captures to a device function.
// Right, because both are inlined, device code only, and hold copies: no address of the host's goes to the device.
template <class F>
__device__ void for_each_of_mine(int n, F&& body) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) body(i);
}

struct Sum {
    float scale;
    __device__ float operator()(float x, float y) const { return scale * x + scale * y; }
};

template <class Operation>
__global__ void combine(const float* a, const float* b, float* c, int n, Operation operation) {
    for_each_of_mine(n, [=](int i) { c[i] = operation(a[i], b[i]); });
}

void solve(const float* a, const float* b, float* c, int n) {
    int blocks = (n + 255) / 256;
    combine<<<blocks < 300 ? blocks : 300, 256>>>(a, b, c, n, Sum{1.0f});
}
