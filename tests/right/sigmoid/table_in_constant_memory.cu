// e^-|x| by hand: a table of 2^(k/16) in __constant__ memory, set when the module is loaded, times a short polynomial.
// Right within the bound, because what is left for the polynomial is below 1/32 in the exponent; lanes read different
// entries, which costs time in constant memory and nothing else.
__constant__ float powers[16] = {
    1.0f, 1.044273782f, 1.090507733f, 1.138788635f, 1.189207115f, 1.241857812f, 1.296839555f, 1.354255547f,
    1.414213562f, 1.476826146f, 1.542210825f, 1.610490332f, 1.681792831f, 1.75625216f, 1.834008086f, 1.915206561f,
};
__constant__ float coefficients[4] = {1.0f, 0.6931471806f, 0.2402265070f, 0.05550410866f};

__device__ float exp2_by_table(float t) {  // t <= 0
    if (t < -126.0f) return 0.0f;
    float steps = rintf(16.0f * t);
    float rest = t - steps / 16.0f;
    float value = coefficients[3];
    for (int k = 2; k >= 0; --k) value = fmaf(value, rest, coefficients[k]);
    int whole = static_cast<int>(steps);
    return ldexpf(value * powers[whole & 15], whole >> 4);
}

__global__ void sigmoid(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float e = exp2_by_table(-fabsf(x[i]) * 1.442695041f);
    y[i] = (x[i] >= 0.0f ? 1.0f : e) / (1.0f + e);
}

void solve(const float* x, float* y, int n) {
    sigmoid<<<(n + 255) / 256, 256>>>(x, y, n);
}
