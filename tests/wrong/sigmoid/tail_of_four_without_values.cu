// expect: uninitialised
// says: before it has a value
// line: 14
// Four elements a thread, loaded together where all are there; of the last ones only the first is loaded.
__global__ void sigmoid(const float* input, float* output, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    float x[4];
    if (i + 3 < n) {
        for (int k = 0; k < 4; ++k) x[k] = input[i + k];
    } else if (i < n) {
        x[0] = input[i];
    }
    for (int k = 0; k < 4; ++k) {
        if (i + k < n) output[i + k] = 1.0f / (1.0f + expf(-x[k]));
    }
}

void solve(const float* input, float* output, int n) { sigmoid<<<(n + 1023) / 1024, 256>>>(input, output, n); }
