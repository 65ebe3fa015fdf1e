// expect: race
// says: race on slots
// line: 39
// The consumer gives a slot back before it has read the value: a producer may overwrite it meanwhile.
#include <cuda/atomic>

constexpr int kSlots = 4, kProducers = 3;

struct Slot {
    float value;
    unsigned turn;
};

using Turn = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;

__device__ void await(unsigned& turn, unsigned wanted) {
    while (Turn(turn).load(cuda::memory_order_acquire) != wanted) __nanosleep(20);
}

__global__ void reduce_sum(const float* input, float* output, int n) {
    __shared__ Slot slots[kSlots];
    __shared__ unsigned tickets;
    if (threadIdx.x < kSlots) slots[threadIdx.x].turn = 0;
    if (threadIdx.x == 0) tickets = 0;
    __syncthreads();
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, chunks = (n + 31) / 32;
    int mine = chunks / gridDim.x + (blockIdx.x < chunks % gridDim.x);
    if (warp < kProducers) {
        for (;;) {
            unsigned ticket = lane == 0 ? atomicAdd(&tickets, 1u) : 0;
            ticket = __shfl_sync(0xffffffffu, ticket, 0);
            if (ticket >= mine) return;
            int i = (ticket * gridDim.x + blockIdx.x) * 32 + lane;
            float value = i < n ? input[i] : 0.0f;
            for (int by = 16; by > 0; by /= 2) value += __shfl_down_sync(0xffffffffu, value, by);
            if (lane != 0) continue;
            Slot& slot = slots[ticket % kSlots];
            await(slot.turn, ticket / kSlots * 2);
            slot.value = value;
            Turn(slot.turn).store(ticket / kSlots * 2 + 1, cuda::memory_order_release);
        }
    }
    if (lane != 0) return;
    float total = 0.0f;
    for (unsigned ticket = 0; ticket < mine; ++ticket) {
        Slot& slot = slots[ticket % kSlots];
        await(slot.turn, ticket / kSlots * 2 + 1);
        Turn(slot.turn).store(ticket / kSlots * 2 + 2, cuda::memory_order_release);
        total += slot.value;
    }
    atomicAdd(output, total);
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 1023) / 1024;
    reduce_sum<<<blocks < 200 ? blocks : 200, 32 * (kProducers + 1)>>>(input, output, n);
}
