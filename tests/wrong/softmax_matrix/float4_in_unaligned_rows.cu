// expect: misaligned
// says: 16
// line: 10
// Rows start on 16 bytes only when cols is a multiple of 4.
__global__ void softmax(const float* input, float* output, int rows, int cols) {
    const float* x = input + (size_t)blockIdx.x * cols;
    float* y = output + (size_t)blockIdx.x * cols;
    float largest = -INFINITY, sum = 0.0f;
    for (int i = 0; i < cols / 4; i++) {
        float4 v = reinterpret_cast<const float4*>(x)[i];
        largest = fmaxf(fmaxf(largest, fmaxf(v.x, v.y)), fmaxf(v.z, v.w));
    }
    for (int col = cols / 4 * 4; col < cols; col++) largest = fmaxf(largest, x[col]);
    for (int col = 0; col < cols; col++) sum += expf(x[col] - largest);
    for (int col = threadIdx.x; col < cols; col += blockDim.x) y[col] = expf(x[col] - largest) / sum;
}

void solve(const float* input, float* output, int rows, int cols) {
    softmax<<<rows, 64>>>(input, output, rows, cols);
}
