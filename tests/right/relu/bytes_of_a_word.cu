// Four neighbouring threads write one byte each of every 4-byte word of the output.
// Right, because they write different bytes: a race is about bytes, not about words.
__global__ void relu(const float* x, unsigned char* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 4 * n) return;
    unsigned bits = __float_as_uint(fmaxf(x[i / 4], 0.0f));
    y[i] = static_cast<unsigned char>(bits >> 8 * (i % 4));
}

void solve(const float* x, float* y, int n) {
    relu<<<(4 * n + 255) / 256, 256>>>(x, reinterpret_cast<unsigned char*>(y), n);
}
