// expect: first_block_only
// says: first 1024
// The sum covers the vector, but each thread writes one element only.
__global__ void softmax(const float* input, float* output, int n) {
    __shared__ float scratch[1024];
    int thread = threadIdx.x;
    float max = -INFINITY;
    for (int i = thread; i < n; i += 1024) {
        max = fmaxf(max, input[i]);
    }
    scratch[thread] = max;
    __syncthreads();
    for (int s = 512; s > 0; s /= 2) {
        if (thread < s) {
            scratch[thread] = fmaxf(scratch[thread], scratch[thread + s]);
        }
        __syncthreads();
    }
    max = scratch[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = thread; i < n; i += 1024) {
        sum += expf(input[i] - max);
    }
    scratch[thread] = sum;
    __syncthreads();
    for (int s = 512; s > 0; s /= 2) {
        if (thread < s) {
            scratch[thread] += scratch[thread + s];
        }
        __syncthreads();
    }
    if (thread < n) {
        output[thread] = expf(input[thread] - max) / scratch[0];
    }
}

void solve(const float* input, float* output, int n) {
    softmax<<<1, 1024>>>(input, output, n);
}
