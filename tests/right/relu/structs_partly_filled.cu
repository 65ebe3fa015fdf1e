// Structs with padding and with fields that only some threads fill go through local, shared and scratch memory whole.
// Right, because a copy of bytes that nobody wrote is no use of them: only the fields that were filled decide anything.
#include <cuda_runtime.h>

constexpr int kThreads = 128;

struct Item {
    float value;
    char positive;  // three bytes of padding follow
    int index;      // filled only where positive
};

__global__ void classify(const float* x, Item* items, int n) {
    __shared__ Item shared_items[kThreads];
    int i = blockIdx.x * kThreads + threadIdx.x;
    Item item;
    if (i < n) {
        item.value = x[i];
        item.positive = x[i] > 0.0f;
        if (item.positive) item.index = i;
    }
    shared_items[threadIdx.x] = item;
    __syncthreads();
    int other = kThreads - 1 - threadIdx.x;
    int there = blockIdx.x * kThreads + other;
    if (there < n) items[there] = shared_items[other];
}

__global__ void relu(const Item* items, float* y, int n) {
    int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    Item item = items[i];
    if (item.positive) {
        y[item.index] = item.value;
    } else {
        y[i] = 0.0f;
    }
}

void solve(const float* x, float* y, int n) {
    Item* items;
    cudaMalloc(&items, n * sizeof(Item));
    int blocks = (n + kThreads - 1) / kThreads;
    classify<<<blocks, kThreads>>>(x, items, n);
    relu<<<blocks, kThreads>>>(items, y, n);
    cudaFree(items);
}
