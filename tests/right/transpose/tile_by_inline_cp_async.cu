// The tile is filled by cp.async, written as inline PTX, four bytes a thread.
// Right, because each thread waits for its own copies, and the barrier after that makes them everybody's.
constexpr int kTile = 32;

__device__ void copy_async(float* to, const float* from) {
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address), "l"(from) : "memory");
}

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[kTile][kTile + 1];
    int left = blockIdx.x * kTile, top = blockIdx.y * kTile, x = threadIdx.x;
    for (int y = threadIdx.y; y < kTile; y += blockDim.y) {
        if (top + y < rows && left + x < cols) copy_async(&tile[y][x], input + (size_t)(top + y) * cols + left + x);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    for (int y = threadIdx.y; y < kTile; y += blockDim.y) {
        if (left + y < cols && top + x < rows) output[(size_t)(left + y) * rows + top + x] = tile[x][y];
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    transpose<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(input, output, rows, cols);
}
