// Rung 3: __expf and fast division
//
// Changes: __expf is one multiplication and the special function unit's 2^x; __fdividef is its
// reciprocal and one more multiplication.
// Removes: most of the instructions. What is left for each element is two trips to the special
// function unit, at an eighth of the rate of an addition. With float data a large GPU already
// waited for memory in rung 2, so there the gain is power, not time; it is time where bytes are
// few or arithmetic is slow: data in the cache, bf16, small GPUs.
// Still costs: accuracy. __expf is off by about 2 + 1.2|x| ulp, but where |x| is large the
// result is near 0 or 1 and the error stays under 1e-7. __fdividef gives 0 for a divisor above
// 2^126, where the true value is below 1e-37.

constexpr int kBlock = 256;

__device__ float sigmoid(float x) {
    return __fdividef(1.0f, 1.0f + __expf(-x));
}

__global__ void sigmoid4(const float* __restrict__ x, float* __restrict__ y, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        float4 v = *reinterpret_cast<const float4*>(x + i);
        *reinterpret_cast<float4*>(y + i) = make_float4(sigmoid(v.x), sigmoid(v.y), sigmoid(v.z), sigmoid(v.w));
    } else {
        for (; i < n; ++i) {
            y[i] = sigmoid(x[i]);
        }
    }
}

void solve(const float* x, float* y, int n) {
    int chunks = (n + 3) / 4;
    sigmoid4<<<(chunks + kBlock - 1) / kBlock, kBlock>>>(x, y, n);
}
