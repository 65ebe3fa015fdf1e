// expect: race
// says: race
// line: 16
// The steps of the tree for the maximum follow each other without a barrier.
__global__ void softmax(const float* input, float* output, int n) {
    __shared__ float scratch[256];
    int thread = threadIdx.x;
    float max = -INFINITY;
    for (int i = thread; i < n; i += 256) {
        max = fmaxf(max, input[i]);
    }
    scratch[thread] = max;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (thread < s) {
            scratch[thread] = fmaxf(scratch[thread], scratch[thread + s]);
        }
    }
    __syncthreads();
    max = scratch[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = thread; i < n; i += 256) {
        sum += expf(input[i] - max);
    }
    scratch[thread] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (thread < s) {
            scratch[thread] += scratch[thread + s];
        }
        __syncthreads();
    }
    for (int i = thread; i < n; i += 256) {
        output[i] = expf(input[i] - max) / scratch[0];
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 256>>>(input, output, n);
}
