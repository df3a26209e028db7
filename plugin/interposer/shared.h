// SPDX-License-Identifier: BSD-3-Clause
// Words that other processes or threads read while we write: lock-free loads and stores on plain fields, so that the
// layout in policy/io/segment.h stays plain data.
#pragma once

#include <cstddef>
#include <cstdint>

#include <time.h>

namespace paced::interposer {

template <class T> T load(const T& from) { return __atomic_load_n(&from, __ATOMIC_RELAXED); }
template <class T> T load_acquire(const T& from) { return __atomic_load_n(&from, __ATOMIC_ACQUIRE); }
template <class T, class U> void store(T& to, U value) { __atomic_store_n(&to, static_cast<T>(value), __ATOMIC_RELAXED); }
template <class T, class U> void store_release(T& to, U value) { __atomic_store_n(&to, static_cast<T>(value), __ATOMIC_RELEASE); }
// For a counter with one writer at a time: no locked instruction.
template <class T, class U> void add(T& to, U value) { store(to, static_cast<T>(load(to) + static_cast<T>(value))); }
// For a counter that several threads of the process add to.
template <class T> T fetch_add(T& to, T value) { return __atomic_fetch_add(&to, value, __ATOMIC_RELAXED); }

// Plain data, word by word, while another process may write or read it: what is torn is for the caller to find out (a version, an
// epoch). bytes: a multiple of 8.
using AliasedWord [[gnu::may_alias]] = std::uint64_t;
inline void load_words(void* to, const void* from, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes / 8; ++i) static_cast<AliasedWord*>(to)[i] = __atomic_load_n(static_cast<const AliasedWord*>(from) + i, __ATOMIC_RELAXED);
}
inline void store_words(void* to, const void* from, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes / 8; ++i) __atomic_store_n(static_cast<AliasedWord*>(to) + i, static_cast<const AliasedWord*>(from)[i], __ATOMIC_RELAXED);
}

// CLOCK_MONOTONIC: one clock for all processes of the node, read without a system call.
inline std::uint64_t now_ns() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

// A lock that is never waited for long: its sections are short and call nothing. After the bound the caller goes
// without: a block of records less, a communicator counted as dropped. A thread that was descheduled inside must not
// hold up a rank.
class BriefLock {
public:
    bool try_lock(int attempts = 4096) {
        for (int i = 0; i < attempts; ++i) {
            if (!__atomic_test_and_set(&taken_, __ATOMIC_ACQUIRE)) return true;
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
        return false;
    }
    void unlock() { __atomic_clear(&taken_, __ATOMIC_RELEASE); }

private:
    bool taken_ = false;
};

}  // namespace paced::interposer
