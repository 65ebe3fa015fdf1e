// Included ahead of the user's file. NVRTC compiles device code only, so `solve` is compiled as device code and run by
// one thread of the simulator. Compiled with -ewp, `kernel<<<grid, block, shared>>>(args)` is a device-side launch, which
// the compiler turns into two calls: one asks for room for the arguments, one launches. We define both, and the CUDA
// runtime functions that a host may call, to write what they were asked into a buffer: the launch plan.
// The layout of the buffer is that of harness/plan.py.
#pragma once

#undef __cudaCDP2GetParameterBufferV2
#undef __cudaCDP2LaunchDeviceV2

#define KATA_HOST __device__ __forceinline__

namespace kata {

enum Kind : unsigned {
    LAUNCH = 1, MALLOC, FREE, MEMSET, COPY, UPLOAD, ATTRIBUTE,
    // What only says who waits for whom: recorded once there is another stream than the default one.
    RECORD, WAIT, STREAM_WAITED, EVENT_WAITED, ALL_WAITED
};
enum Refusal : unsigned { NONE = 0, FINISHED, TOO_MANY_STEPS, UPLOAD_TOO_BIG, DEVICE_TO_HOST, MISSING };

struct Step {
    unsigned kind;
    int line;
    unsigned long long word[6];  // the last is the stream
    unsigned long long payload;  // bytes that follow the step
};

struct Header {
    unsigned status;
    int line;
    unsigned long long steps;
    unsigned long long used;
    unsigned long long scratch;  // where what this call allocates starts
};

// No device hands this out, and no two numbers that solve packs side by side are likely to look like it.
constexpr size_t SCRATCH_BASE = 0x17A3C9D3B0000ull;
constexpr size_t SCRATCH_GAP = 1ull << 20;
constexpr unsigned MOST_STEPS = 512;
constexpr size_t UPLOAD_LIMIT = 1ull << 16;

__device__ Header* header;
__device__ size_t capacity, parameter_bytes;
__device__ size_t scratch = SCRATCH_BASE;  // goes on in a later call: what an earlier one allocated may be in use
__device__ int launch_line;
__device__ unsigned long long streams, events;  // created so far

KATA_HOST void refuse(Refusal why, int line) {
    header->line = line;
    header->status = why;
    __trap();
}

KATA_HOST Step* push(Kind kind, int line, size_t payload = 0) {
    size_t used = header->used, next = used + sizeof(Step) + (payload + 7) / 8 * 8;
    if (next > capacity || header->steps == MOST_STEPS) refuse(TOO_MANY_STEPS, line);
    Step* step = reinterpret_cast<Step*>(reinterpret_cast<char*>(header) + used);
    step->kind = kind;
    step->line = line;
    step->word[5] = 0;
    step->payload = payload;
    header->used = next;
    header->steps += 1;
    return step;
}

template <class T> KATA_HOST unsigned long long bits(T* pointer) {
    return reinterpret_cast<unsigned long long>(pointer);
}

// `<<<grid` becomes `<<<at{__LINE__}->*grid`: it notes the line, and gives the grid back as it was.
struct at { int line; };
template <class T> KATA_HOST T&& operator->*(at here, T&& grid) {
    launch_line = here.line;
    return static_cast<T&&>(grid);
}

KATA_HOST void begin(void* buffer, size_t bytes, size_t largest_parameters) {
    header = static_cast<Header*>(buffer);
    header->status = NONE;
    header->line = 0;
    header->steps = 0;
    header->used = sizeof(Header);
    capacity = bytes;
    parameter_bytes = largest_parameters;
    header->scratch = scratch;
    launch_line = 0;
}

KATA_HOST void end() { header->status = FINISHED; }

KATA_HOST cudaError_t allocate(void** pointer, size_t bytes, int line) {
    if (bytes == 0) {
        *pointer = nullptr;
        return ::cudaSuccess;
    }
    Step* step = push(MALLOC, line);
    step->word[0] = scratch;
    step->word[1] = bytes;
    *pointer = reinterpret_cast<void*>(scratch);
    scratch += (bytes + 2 * SCRATCH_GAP - 1) / SCRATCH_GAP * SCRATCH_GAP;
    return ::cudaSuccess;
}

// A stream or an event is its number, and an odd stream doesn't wait for the default one. 1 is cudaStreamLegacy, the
// default one by another name, and 2 cudaStreamPerThread.
KATA_HOST unsigned long long number(cudaStream_t stream) { return bits(stream) == 1 ? 0 : bits(stream); }
KATA_HOST cudaError_t create(cudaStream_t* stream, unsigned flags) {
    streams += 1;
    *stream = reinterpret_cast<cudaStream_t>(2 * streams + 2 + (flags == cudaStreamNonBlocking));
    return ::cudaSuccess;
}
KATA_HOST cudaError_t create(cudaEvent_t* event) {
    events += 1;
    *event = reinterpret_cast<cudaEvent_t>(events);
    return ::cudaSuccess;
}
KATA_HOST cudaError_t order(Kind kind, int line, unsigned long long event, cudaStream_t stream = 0) {
    if (streams == 0) return ::cudaSuccess;
    Step* step = push(kind, line);
    step->word[0] = event;
    step->word[5] = number(stream);
    return ::cudaSuccess;
}

KATA_HOST cudaError_t release(void* pointer, int line, bool waits, cudaStream_t stream = 0) {
    if (!pointer) return ::cudaSuccess;
    Step* step = push(FREE, line);
    step->word[0] = bits(pointer);
    step->word[1] = waits;
    step->word[5] = number(stream);
    return ::cudaSuccess;
}

KATA_HOST cudaError_t fill(void* pointer, int value, size_t bytes, int line, cudaStream_t stream = 0) {
    Step* step = push(MEMSET, line);
    step->word[5] = number(stream);
    step->word[0] = bits(pointer);
    step->word[1] = static_cast<unsigned char>(value);
    step->word[2] = bytes;
    return ::cudaSuccess;
}

KATA_HOST cudaError_t upload(void* to, const void* from, size_t bytes, int line, cudaStream_t stream) {
    if (bytes > UPLOAD_LIMIT) refuse(UPLOAD_TOO_BIG, line);
    Step* step = push(UPLOAD, line, bytes);
    step->word[0] = bits(to);
    step->word[5] = number(stream);
    char* data = reinterpret_cast<char*>(step + 1);
    if ((bits(from) | bytes) % 4 == 0) {
        for (size_t i = 0; i < bytes / 4; ++i) {
            reinterpret_cast<unsigned*>(data)[i] = static_cast<const unsigned*>(from)[i];
        }
    } else {
        for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<const char*>(from)[i];
    }
    return ::cudaSuccess;
}

KATA_HOST cudaError_t copy(
    void* to, const void* from, size_t bytes, ::cudaMemcpyKind kind, int line, cudaStream_t stream = 0) {
    if (bytes == 0) return ::cudaSuccess;
    bool from_host = kind == ::cudaMemcpyHostToDevice || (kind == ::cudaMemcpyDefault && __isLocal(from));
    bool to_host = kind == ::cudaMemcpyDeviceToHost || (kind == ::cudaMemcpyDefault && __isLocal(to));
    if (to_host) refuse(DEVICE_TO_HOST, line);
    if (kind == ::cudaMemcpyHostToHost) {
        memcpy(to, from, bytes);
        return ::cudaSuccess;
    }
    if (from_host) return upload(to, from, bytes, line, stream);
    Step* step = push(COPY, line);
    step->word[0] = bits(to);
    step->word[1] = bits(from);
    step->word[2] = bytes;
    step->word[5] = number(stream);
    return ::cudaSuccess;
}

// The CUDA runtime, as far as a host function that only launches needs it. Errors are the planner's to raise, so every
// call succeeds. Each takes the line it was called on as a last, defaulted parameter.
#define KATA_LINE int line = __builtin_LINE()

template <class T> KATA_HOST cudaError_t cudaMalloc(T** pointer, size_t bytes, KATA_LINE) {
    return allocate(reinterpret_cast<void**>(pointer), bytes, line);
}
template <class T> KATA_HOST cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t, KATA_LINE) {
    return allocate(reinterpret_cast<void**>(pointer), bytes, line);
}
KATA_HOST cudaError_t cudaFree(void* pointer, KATA_LINE) { return release(pointer, line, true); }
KATA_HOST cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream, KATA_LINE) {
    return release(pointer, line, false, stream);
}
KATA_HOST cudaError_t cudaMemset(void* pointer, int value, size_t bytes, KATA_LINE) {
    return fill(pointer, value, bytes, line);
}
KATA_HOST cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream = 0, KATA_LINE) {
    return fill(pointer, value, bytes, line, stream);
}
KATA_HOST cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, ::cudaMemcpyKind kind, KATA_LINE) {
    return copy(to, from, bytes, kind, line);
}
KATA_HOST cudaError_t cudaMemcpyAsync(
    void* to, const void* from, size_t bytes, ::cudaMemcpyKind kind, cudaStream_t stream = 0, KATA_LINE) {
    return copy(to, from, bytes, kind, line, stream);
}
template <class T> KATA_HOST cudaError_t cudaMemcpyToSymbol(
    const T& symbol, const void* from, size_t bytes, size_t offset = 0, ::cudaMemcpyKind kind = ::cudaMemcpyHostToDevice,
    KATA_LINE) {
    return copy(const_cast<char*>(reinterpret_cast<const char*>(&symbol)) + offset, from, bytes, kind, line);
}
template <class T> KATA_HOST cudaError_t cudaMemcpyToSymbolAsync(
    const T& symbol, const void* from, size_t bytes, size_t offset = 0, ::cudaMemcpyKind kind = ::cudaMemcpyHostToDevice,
    cudaStream_t stream = 0, KATA_LINE) {
    return copy(const_cast<char*>(reinterpret_cast<const char*>(&symbol)) + offset, from, bytes, kind, line, stream);
}
template <class T> KATA_HOST cudaError_t cudaMemcpyFromSymbol(
    void* to, const T& symbol, size_t bytes, size_t offset = 0, ::cudaMemcpyKind kind = ::cudaMemcpyDeviceToHost, KATA_LINE) {
    return copy(to, reinterpret_cast<const char*>(&symbol) + offset, bytes, kind, line);
}
template <class P, class T> KATA_HOST cudaError_t cudaGetSymbolAddress(P** pointer, const T& symbol) {
    *pointer = reinterpret_cast<P*>(const_cast<T*>(&symbol));
    return ::cudaSuccess;
}
template <class F> KATA_HOST cudaError_t cudaFuncSetAttribute(F* kernel, ::cudaFuncAttribute attribute, int value, KATA_LINE) {
    Step* step = push(ATTRIBUTE, line);
    step->word[0] = bits(kernel);
    step->word[1] = attribute;
    step->word[2] = static_cast<long long>(value);
    return ::cudaSuccess;
}
template <class F> KATA_HOST cudaError_t cudaFuncSetCacheConfig(F*, ::cudaFuncCache) { return ::cudaSuccess; }
KATA_HOST cudaError_t cudaDeviceSetCacheConfig(::cudaFuncCache) { return ::cudaSuccess; }

template <class P, class... Rest> KATA_HOST void place(char* to, size_t used, void** arguments) {
    used = (used + alignof(P) - 1) / alignof(P) * alignof(P);
    memcpy(to + used, *arguments, sizeof(P));
    if constexpr (sizeof...(Rest) > 0) place<Rest...>(to, used + sizeof(P), arguments + 1);
}
KATA_HOST char* launch(void* kernel, dim3 grid, dim3 block, unsigned shared, int line, cudaStream_t stream = 0) {
    Step* step = push(LAUNCH, line, parameter_bytes);
    step->word[0] = bits(kernel);
    step->word[1] = grid.x | static_cast<unsigned long long>(grid.y) << 32;
    step->word[2] = grid.z | static_cast<unsigned long long>(block.x) << 32;
    step->word[3] = block.y | static_cast<unsigned long long>(block.z) << 32;
    step->word[4] = shared;
    step->word[5] = number(stream);
    return reinterpret_cast<char*>(step + 1);
}
template <class... P> KATA_HOST cudaError_t cudaLaunchKernel(
    void (*kernel)(P...), dim3 grid, dim3 block, void** arguments, size_t shared = 0, cudaStream_t stream = 0,
    KATA_LINE) {
    char* to = launch(reinterpret_cast<void*>(kernel), grid, block, static_cast<unsigned>(shared), line, stream);
    if constexpr (sizeof...(P) > 0) place<P...>(to, 0, arguments);
    return ::cudaSuccess;
}

KATA_HOST cudaError_t cudaDeviceSynchronize(KATA_LINE) { return order(ALL_WAITED, line, 0); }
KATA_HOST cudaError_t cudaGetLastError() { return ::cudaSuccess; }
KATA_HOST cudaError_t cudaPeekAtLastError() { return ::cudaSuccess; }
KATA_HOST const char* cudaGetErrorString(cudaError_t) { return "no error"; }
KATA_HOST const char* cudaGetErrorName(cudaError_t) { return "cudaSuccess"; }
KATA_HOST cudaError_t cudaStreamCreate(cudaStream_t* stream) { return create(stream, cudaStreamDefault); }
KATA_HOST cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) { return create(stream, flags); }
KATA_HOST cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) { return create(stream, flags); }
KATA_HOST cudaError_t cudaStreamDestroy(cudaStream_t) { return ::cudaSuccess; }
KATA_HOST cudaError_t cudaStreamSynchronize(cudaStream_t stream, KATA_LINE) { return order(STREAM_WAITED, line, 0, stream); }
KATA_HOST cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned = 0, KATA_LINE) {
    return order(WAIT, line, bits(event), stream);
}
KATA_HOST cudaError_t cudaEventCreate(cudaEvent_t* event) { return create(event); }
KATA_HOST cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return create(event); }
KATA_HOST cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0, KATA_LINE) {
    return order(RECORD, line, bits(event), stream);
}
KATA_HOST cudaError_t cudaEventSynchronize(cudaEvent_t event, KATA_LINE) { return order(EVENT_WAITED, line, bits(event)); }
KATA_HOST cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) { *ms = 0.0f; return ::cudaSuccess; }
KATA_HOST cudaError_t cudaEventDestroy(cudaEvent_t) { return ::cudaSuccess; }

// What it says of the device is an A100 (sm_80): NVIDIA, "CUDA C++ Programming Guide", compute capabilities, and the A100 datasheet.
KATA_HOST cudaError_t cudaGetDevice(int* device) { *device = 0; return ::cudaSuccess; }
KATA_HOST cudaError_t cudaSetDevice(int) { return ::cudaSuccess; }
KATA_HOST cudaError_t cudaGetDeviceCount(int* count) { *count = 1; return ::cudaSuccess; }
KATA_HOST cudaError_t cudaDeviceGetAttribute(int* value, ::cudaDeviceAttr attribute, int, KATA_LINE) {
    switch (attribute) {
        case ::cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
        case ::cudaDevAttrMaxBlockDimX: case ::cudaDevAttrMaxBlockDimY: *value = 1024; break;
        case ::cudaDevAttrMaxBlockDimZ: *value = 64; break;
        case ::cudaDevAttrMaxGridDimX: *value = 0x7fffffff; break;
        case ::cudaDevAttrMaxGridDimY: case ::cudaDevAttrMaxGridDimZ: *value = 65535; break;
        case ::cudaDevAttrMaxSharedMemoryPerBlock: *value = 49152; break;
        case ::cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 166912; break;
        case ::cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = 167936; break;
        case ::cudaDevAttrWarpSize: *value = 32; break;
        case ::cudaDevAttrMaxRegistersPerBlock: case ::cudaDevAttrMaxRegistersPerMultiprocessor: *value = 65536; break;
        case ::cudaDevAttrMultiProcessorCount: *value = 108; break;
        case ::cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
        case ::cudaDevAttrMaxBlocksPerMultiprocessor: *value = 32; break;
        case ::cudaDevAttrL2CacheSize: *value = 41943040; break;
        case ::cudaDevAttrClockRate: *value = 1410000; break;
        case ::cudaDevAttrComputeCapabilityMajor: *value = 8; break;
        case ::cudaDevAttrComputeCapabilityMinor: *value = 0; break;
        case ::cudaDevAttrCooperativeLaunch: *value = 1; break;
        default: refuse(MISSING, line);
    }
    return ::cudaSuccess;
}
KATA_HOST cudaError_t cudaGetDeviceProperties(::cudaDeviceProp* properties, int) {
    const char name[] = "NVIDIA A100";
    memcpy(properties->name, name, sizeof(name));
    properties->totalGlobalMem = 42949672960ull;
    properties->sharedMemPerBlock = 49152;
    properties->sharedMemPerBlockOptin = 166912;
    properties->sharedMemPerMultiprocessor = 167936;
    properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->maxThreadsPerMultiProcessor = 2048;
    properties->maxBlocksPerMultiProcessor = 32;
    properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
    properties->maxThreadsDim[2] = 64;
    properties->maxGridSize[0] = 0x7fffffff;
    properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
    properties->major = 8;
    properties->minor = 0;
    properties->multiProcessorCount = 108;
    properties->l2CacheSize = 41943040;
    properties->memoryBusWidth = 5120;
    properties->totalConstMem = 65536;
    properties->concurrentKernels = properties->cooperativeLaunch = properties->unifiedAddressing = 1;
    return ::cudaSuccess;
}
// Occupancy by threads and shared memory alone: registers are known only once this very code is compiled.
template <class F> KATA_HOST cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, F*, int threads, size_t shared) {
    int warps = threads <= 0 ? 64 : (threads + 31) / 32;
    int most = 64 / warps < 32 ? 64 / warps : 32;
    int fit = static_cast<int>(167936 / (shared + 1024));
    *blocks = most < fit ? most : fit;
    return ::cudaSuccess;
}
template <class F> KATA_HOST cudaError_t cudaOccupancyMaxPotentialBlockSize(
    int* grid, int* block, F*, size_t = 0, int limit = 0) {
    *block = limit > 0 && limit < 256 ? limit : 256;
    *grid = 108 * (2048 / *block < 32 ? 2048 / *block : 32);
    return ::cudaSuccess;
}

}  // namespace kata

extern "C" KATA_HOST void* __cudaCDP2GetParameterBufferV2(void* kernel, dim3 grid, dim3 block, unsigned shared) {
    return kata::launch(kernel, grid, block, shared, kata::launch_line);
}
extern "C" KATA_HOST cudaError_t __cudaCDP2LaunchDeviceV2(void* parameters, cudaStream_t stream) {
    (static_cast<kata::Step*>(parameters) - 1)->word[5] = kata::number(stream);
    return cudaSuccess;
}

#undef KATA_LINE
#undef KATA_HOST

// The names a host function calls: ours rather than the device runtime's.
#define cudaDeviceGetAttribute kata::cudaDeviceGetAttribute
#define cudaDeviceSetCacheConfig kata::cudaDeviceSetCacheConfig
#define cudaDeviceSynchronize kata::cudaDeviceSynchronize
#define cudaEventCreate kata::cudaEventCreate
#define cudaEventCreateWithFlags kata::cudaEventCreateWithFlags
#define cudaEventDestroy kata::cudaEventDestroy
#define cudaEventElapsedTime kata::cudaEventElapsedTime
#define cudaEventRecord kata::cudaEventRecord
#define cudaEventSynchronize kata::cudaEventSynchronize
#define cudaFree kata::cudaFree
#define cudaFreeAsync kata::cudaFreeAsync
#define cudaFuncSetAttribute kata::cudaFuncSetAttribute
#define cudaFuncSetCacheConfig kata::cudaFuncSetCacheConfig
#define cudaGetDevice kata::cudaGetDevice
#define cudaGetDeviceCount kata::cudaGetDeviceCount
#define cudaGetDeviceProperties kata::cudaGetDeviceProperties
#define cudaGetErrorName kata::cudaGetErrorName
#define cudaGetErrorString kata::cudaGetErrorString
#define cudaGetLastError kata::cudaGetLastError
#define cudaGetSymbolAddress kata::cudaGetSymbolAddress
#define cudaLaunchKernel kata::cudaLaunchKernel
#define cudaMalloc kata::cudaMalloc
#define cudaMallocAsync kata::cudaMallocAsync
#define cudaMemcpy kata::cudaMemcpy
#define cudaMemcpyAsync kata::cudaMemcpyAsync
#define cudaMemcpyFromSymbol kata::cudaMemcpyFromSymbol
#define cudaMemcpyToSymbol kata::cudaMemcpyToSymbol
#define cudaMemcpyToSymbolAsync kata::cudaMemcpyToSymbolAsync
#define cudaMemset kata::cudaMemset
#define cudaMemsetAsync kata::cudaMemsetAsync
#define cudaOccupancyMaxActiveBlocksPerMultiprocessor kata::cudaOccupancyMaxActiveBlocksPerMultiprocessor
#define cudaOccupancyMaxPotentialBlockSize kata::cudaOccupancyMaxPotentialBlockSize
#define cudaPeekAtLastError kata::cudaPeekAtLastError
#define cudaSetDevice kata::cudaSetDevice
#define cudaStreamCreate kata::cudaStreamCreate
#define cudaStreamCreateWithFlags kata::cudaStreamCreateWithFlags
#define cudaStreamCreateWithPriority kata::cudaStreamCreateWithPriority
#define cudaStreamDestroy kata::cudaStreamDestroy
#define cudaStreamSynchronize kata::cudaStreamSynchronize
#define cudaStreamWaitEvent kata::cudaStreamWaitEvent
