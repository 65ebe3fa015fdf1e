// In a branch that some lanes of a warp take, cg::coalesced_threads makes a group of those, which reduces and elects
// one.
// Right, because the group is of the lanes that are there, whichever these are; its size is known at run time only.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0.0f;
    __syncthreads();
    float value = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += input[i];
    if (value != 0.0f) {
        cg::coalesced_group here = cg::coalesced_threads();
        float part = cg::reduce(here, value, cg::plus<float>());
        if (here.thread_rank() == 0) atomicAdd(&sum, part);
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(output, sum);
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 127) / 128;
    reduce_sum<<<blocks < 70 ? blocks : 70, 128>>>(input, output, n);
}
