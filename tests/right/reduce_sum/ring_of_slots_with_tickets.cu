// A queue of four slots in shared memory: three warps draw tickets and fill slots, a fourth takes them out in order. Each slot has a
// turn number, as in a bounded lock-free queue, read and written with acquire and release; who waits sleeps.
// Right, because a slot is written only in its writer's turn and read only in its reader's, and each hands the next turn
// on by a release that the other acquires.
#include <cuda/atomic>

constexpr int kSlots = 4, kProducers = 3, kChunk = 512;

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
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, chunks = (n + kChunk - 1) / kChunk;
    int mine = chunks / gridDim.x + (blockIdx.x < chunks % gridDim.x);
    if (warp < kProducers) {
        for (;;) {
            unsigned ticket = lane == 0 ? atomicAdd(&tickets, 1u) : 0;
            ticket = __shfl_sync(0xffffffffu, ticket, 0);
            if (ticket >= mine) return;
            int start = (ticket * gridDim.x + blockIdx.x) * kChunk;
            float value = 0.0f;
            for (int i = start + lane; i < min(n, start + kChunk); i += 32) value += input[i];
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
        total += slot.value;
        Turn(slot.turn).store(ticket / kSlots * 2 + 2, cuda::memory_order_release);
    }
    atomicAdd(output, total);
}

void solve(const float* input, float* output, int n) {
    int blocks = (n + 1023) / 1024;
    reduce_sum<<<blocks < 20 ? blocks : 20, 32 * (kProducers + 1)>>>(input, output, n);
}
