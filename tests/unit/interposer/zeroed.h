// SPDX-License-Identifier: BSD-3-Clause
// Zeroed memory that takes no room until it is touched, as the agent has it.
#pragma once

#include <cstddef>

#include <sys/mman.h>

namespace paced::test {

class Zeroed {
public:
    explicit Zeroed(std::size_t size)
        : size_(size), place_(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
    ~Zeroed() { ::munmap(place_, size_); }
    Zeroed(const Zeroed&) = delete;
    Zeroed& operator=(const Zeroed&) = delete;
    void* get() const { return place_; }

private:
    std::size_t size_;
    void* place_;
};

}  // namespace paced::test
