// expect: race
// says: __threadfence()
// line: 32
// Value and flag are volatile, but no fence keeps the value before the flag: the next block may see the flag first.
#include <cuda_runtime.h>

constexpr int kThreads = 256;

struct Link {
    float sum;
    int ready;
};

__global__ void reduce_sum(const float* input, float* output, volatile Link* links, int* tickets, int n) {
    __shared__ int place;
    __shared__ float tree[kThreads];
    if (threadIdx.x == 0) place = atomicAdd(tickets, 1);
    __syncthreads();
    float value = 0.0f;
    for (int i = place * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) value += input[i];
    tree[threadIdx.x] = value;
    for (int half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
    }
    if (threadIdx.x != 0) return;
    float sum = tree[0];
    if (place > 0) {
        while (links[place - 1].ready == 0) {
        }
        __threadfence();
        sum += links[place - 1].sum;
    }
    links[place].sum = sum;
    links[place].ready = 1;
    if (place == gridDim.x - 1) *output = sum;
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + kThreads - 1) / kThreads;
    blocks = blocks < 24 ? blocks : 24;
    char* scratch;
    size_t bytes = blocks * sizeof(Link) + sizeof(int);
    cudaMalloc(&scratch, bytes);
    cudaMemset(scratch, 0, bytes);
    Link* links = reinterpret_cast<Link*>(scratch);
    reduce_sum<<<blocks, kThreads>>>(input, output, links, reinterpret_cast<int*>(links + blocks), n);
    cudaFree(scratch);
}
