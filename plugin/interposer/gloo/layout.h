// SPDX-License-Identifier: BSD-3-Clause
// The parts of Gloo's objects that are read, as plain data: a copy of what its headers say (Debian 12's libgloo,
// 0.0~git20220518). The headers themselves would bring static constructors and libstdc++ into every host.
// tests/gloo/layout_test.cpp holds the two together wherever the headers are installed.
//
// At run time nothing is believed that a call does not prove. Every options object begins with the pointer to its context;
// it is looked up among the contexts that were seen to connect and never followed, so that with another layout nothing
// is recorded. A context's own numbers must be those that its rendezvous showed (contexts.cpp).
#pragma once

#include <cstdint>

namespace paced::interposer::gloo {

template <class T>
struct Vector {
    T* begin;
    T* end;
    T* limit;
    std::uint64_t size() const { return static_cast<std::uint64_t>(end - begin); }
};

struct Text {  // std::string
    const char* data;
    std::uint64_t size;
};

struct Context {
    const void* functions;
    int rank, size;
};

struct Buffer {
    const void* functions;
    void* data;
    std::uint64_t size;
};
inline std::uint64_t size_of(const Buffer* buffer) { return buffer != nullptr ? buffer->size : 0; }

// What a call means by "bytes" is told in plugin/interposer/README.md, the same as for MPI.
inline std::uint64_t bytes_of_elements(std::uint64_t count, std::uint64_t size) {
    std::uint64_t bytes = 0;
    return __builtin_mul_overflow(count, size, &bytes) ? 0 : bytes;
}

struct Options {
    const void* context;  // std::shared_ptr
    void* control;
};

struct AllreduceOptions : Options {
    std::int64_t timeout_ms;
    int algorithm;
    Vector<Buffer*> in, out;
    std::uint64_t elements, element_size;
    std::uint64_t bytes(std::uint32_t, std::uint32_t) const { return bytes_of_elements(elements, element_size); }
};

struct ElementsOptions : Options {  // reduce, broadcast
    Buffer *in, *out;
    std::uint64_t elements, element_size;
    std::uint64_t bytes(std::uint32_t, std::uint32_t) const { return bytes_of_elements(elements, element_size); }
};

struct BarrierOptions : Options {
    std::uint64_t bytes(std::uint32_t, std::uint32_t) const { return 0; }
};

struct ShareOptions : Options {  // allgather, gather: without an input this rank's part of the output is it
    Buffer *in, *out;
    std::uint64_t bytes(std::uint32_t size, std::uint32_t) const { return in != nullptr ? in->size : size_of(out) / size; }
};

struct AllgathervOptions : Options {
    Buffer *in, *out;
    Vector<std::uint64_t> elements;  // of each rank
    std::uint64_t element_size;
    std::uint64_t bytes(std::uint32_t, std::uint32_t rank) const {
        if (in != nullptr) return in->size;
        return rank < elements.size() ? bytes_of_elements(elements.begin[rank], element_size) : 0;
    }
};

struct ScatterOptions : Options {
    Vector<Buffer*> in;  // on the root alone
    Buffer* out;
    std::uint64_t bytes(std::uint32_t, std::uint32_t) const { return size_of(out); }
};

struct AlltoallOptions : Options {
    Buffer *in, *out;
    std::uint64_t bytes(std::uint32_t, std::uint32_t) const { return size_of(out); }
};

struct AlltoallvOptions : Options {
    Buffer *in, *out;
    Vector<std::uint64_t> in_offsets, in_lengths, out_offsets, out_lengths;  // bytes, of each rank
    std::uint64_t bytes(std::uint32_t size, std::uint32_t) const {
        std::uint64_t sum = 0;
        for (std::uint32_t i = 0; i < size && i < out_lengths.size(); ++i) sum += out_lengths.begin[i];
        return sum;
    }
};

}  // namespace paced::interposer::gloo
