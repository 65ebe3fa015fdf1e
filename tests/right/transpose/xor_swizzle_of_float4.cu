// A tile of 64 x 64 with no padding, in which the four-element groups of row r are permuted by r: group g lies at g ^
// (r / 4).
// Right, because x ^ constant is a permutation, and both sides use the same one; a thread writes four rows of one
// column.
constexpr int kTile = 64;

__device__ int place(int row, int col) { return row * kTile + ((col / 4 ^ row / 4 % 16) * 4 + col % 4); }

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[kTile * kTile];
    int left = blockIdx.x * kTile, top = blockIdx.y * kTile;
    for (int y = threadIdx.y; y < kTile; y += blockDim.y) {
        for (int x = threadIdx.x; x < kTile; x += blockDim.x) {
            if (top + y < rows && left + x < cols) tile[place(y, x)] = input[(size_t)(top + y) * cols + left + x];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < kTile; y += blockDim.y) {
        for (int x = threadIdx.x; x < kTile; x += blockDim.x) {
            if (left + y < cols && top + x < rows) output[(size_t)(left + y) * rows + top + x] = tile[place(x, y)];
        }
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    transpose<<<dim3((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile), dim3(32, 8)>>>(input, output, rows, cols);
}
