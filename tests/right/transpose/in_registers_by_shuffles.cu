// A warp turns a tile of 32 x 32 in registers, by five rounds of exchanges between lanes: no shared memory at all.
// Right, because in round k each lane swaps half of its registers with the lane that differs in bit k, all 32 lanes
// take part in every shuffle, and lanes without data hold zeros that are never stored.
__global__ void transpose(const float* input, float* output, int rows, int cols) {
    int lane = threadIdx.x, left = blockIdx.x * 32, top = blockIdx.y * 32;
    float kept[32];
#pragma unroll
    for (int y = 0; y < 32; ++y) {
        bool inside = top + y < rows && left + lane < cols;
        kept[y] = inside ? input[(size_t)(top + y) * cols + left + lane] : 0.0f;
    }
#pragma unroll
    for (int by = 16; by > 0; by /= 2) {
        bool upper = lane & by;
#pragma unroll
        for (int y = 0; y < 32; ++y) {
            if (y & by) continue;
            float given = upper ? kept[y] : kept[y + by];
            float taken = __shfl_xor_sync(0xffffffffu, given, by);
            if (upper) {
                kept[y] = taken;
            } else {
                kept[y + by] = taken;
            }
        }
    }
#pragma unroll
    for (int y = 0; y < 32; ++y) {
        if (left + y < cols && top + lane < rows) output[(size_t)(left + y) * rows + top + lane] = kept[y];
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    transpose<<<dim3((cols + 31) / 32, (rows + 31) / 32), 32>>>(input, output, rows, cols);
}
