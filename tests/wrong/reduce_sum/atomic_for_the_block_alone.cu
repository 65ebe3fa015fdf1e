// expect: race
// says: for its block alone
// line: 8
// Every block adds to one word with atomicAdd_block, which other blocks need not see as one operation.
__global__ void k(const float* in, float* out, int n) {
  float s = 0; for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += gridDim.x * 32) s += in[i];
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
  if (threadIdx.x == 0) atomicAdd_block(out, s);
}
void solve(const float* in, float* out, int n) { k<<<64, 32>>>(in, out, n); }
