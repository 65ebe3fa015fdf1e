// expect: misaligned
// says: 16
// line: 9
// Rows start on 16 bytes only when cols is a multiple of 4.
__global__ void transpose(const float* input, float* output, int rows, int cols) {
    int row = blockIdx.x;
    for (int col = 4 * threadIdx.x; col < cols; col += 4 * blockDim.x) {
        if (col + 3 < cols) {
            float4 v = *reinterpret_cast<const float4*>(&input[(size_t)row * cols + col]);
            output[(size_t)col * rows + row] = v.x;
            output[(size_t)(col + 1) * rows + row] = v.y;
            output[(size_t)(col + 2) * rows + row] = v.z;
            output[(size_t)(col + 3) * rows + row] = v.w;
        } else {
            for (int c = col; c < cols; c++) output[(size_t)c * rows + row] = input[(size_t)row * cols + c];
        }
    }
}

void solve(const float* input, float* output, int rows, int cols) {
    transpose<<<rows, 64>>>(input, output, rows, cols);
}
