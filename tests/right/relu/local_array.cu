// A local array with an index known at run time only, of which the last thread fills just the first few places.
// Right, because what was not filled is not read: the second loop has the same bound as the first.
constexpr int kEach = 7;

__global__ void relu(const float* x, float* y, int n) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * kEach;
    float kept[kEach];
    int places[kEach];
    int count = 0;
    for (int i = first; i < min(first + kEach, n); ++i) {
        y[i] = 0.0f;
        if (x[i] > 0.0f) {
            places[count] = i;
            kept[count++] = x[i];
        }
    }
    while (count > 0) {
        --count;
        y[places[count]] = kept[count];
    }
}

void solve(const float* x, float* y, int n) {
    int threads = (n + kEach - 1) / kEach;
    relu<<<(threads + 127) / 128, 128>>>(x, y, n);
}
