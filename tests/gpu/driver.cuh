// What a driver of one kata file starts with, ahead of the file, whose macros can't reach it here. The standard headers are
// those that the harness gives too. drivers.py writes the rest: kata_run, which calls the file's solve for each case.
#pragma once

#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace kata_driver {

static std::FILE* file;

template <typename T> bool more(T& value) {
    return std::fread(&value, sizeof value, 1, file) == 1;
}

[[noreturn]] static void bad_cases() {
    std::fprintf(stderr, "driver: the file of cases is missing, or ends too early\n");
    std::exit(3);
}

template <typename T> T next() {
    T value;
    if (!more(value)) bad_cases();
    return value;
}

// What one pointer of solve points to: its size, and what it holds on entry, come from the file of cases.
struct Buffer {
    size_t bytes = next<uint64_t>();
    std::vector<char> data;  // empty: nothing that solve may count on
    void* device = nullptr;

    Buffer() {
        if (!next<int32_t>()) return;
        data.resize(bytes);
        if (std::fread(data.data(), 1, bytes, file) != bytes) bad_cases();
    }
    ~Buffer() { cudaFree(device); }

    // A new allocation, since no other has memory that nobody wrote. False where the GPU does nothing any more.
    bool renew() {
        cudaFree(device);
        device = nullptr;
        if (cudaMalloc(&device, bytes) != cudaSuccess) return false;
        return data.empty() || cudaMemcpy(device, data.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess;
    }
};

}  // namespace kata_driver
