// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/pacing/delay.h"

#include <cerrno>
#include <climits>

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

timespec time_of(std::uint64_t ns) { return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)}; }

// By default the kernel may be 50 us late with a timer of this thread. Set for one sleep and put back, since the host's
// own sleeps are none of our business: three system calls, a microsecond together, beside a sleep of at least 50.
class PreciseTimer {
public:
    PreciseTimer() : before_(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)) {
        if (before_ > 1) prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    }
    ~PreciseTimer() {
        if (before_ > 1) prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(before_), 0, 0, 0);
    }
    PreciseTimer(const PreciseTimer&) = delete;
    PreciseTimer& operator=(const PreciseTimer&) = delete;

private:
    int before_;
};

// The system call itself: libc's function is a point at which the host's pthread_cancel would end us.
bool sleep_until(std::uint64_t deadline_ns) {
    const PreciseTimer precise;
    const timespec deadline = time_of(deadline_ns);
    while (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) != 0)
        if (errno != EINTR) return false;
    return true;
}

void spin_until(std::uint64_t deadline_ns) {
    while (now_ns() < deadline_ns) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
}

}  // namespace

void delay_until(std::uint64_t deadline_ns, bool may_spin) {
    const std::uint64_t now = now_ns();
    if (now >= deadline_ns) return;
    if (!may_spin) {
        sleep_until(deadline_ns);
    } else if (deadline_ns - now < spin_limit_ns || sleep_until(deadline_ns - wake_ahead_ns)) {
        spin_until(deadline_ns);
    }
}

bool wait_until_reached(const std::uint32_t& word, std::uint32_t wanted, std::uint64_t deadline_ns) {
    const timespec deadline = time_of(deadline_ns);
    for (;;) {
        const std::uint32_t value = load_acquire(word);
        if (has_reached(value, wanted)) return true;
        // Asked here, since somebody who changed the word all the time would end each wait before its time is out.
        if (now_ns() >= deadline_ns) return false;
        // _BITSET: its time-out is absolute. Not _PRIVATE: the word is another process's too.
        if (syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, value, &deadline, nullptr, FUTEX_BITSET_MATCH_ANY) == 0) continue;
        if (errno != EAGAIN && errno != EINTR && errno != ETIMEDOUT) return false;
    }
}

void wake_all(std::uint32_t& word) { syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace paced::interposer
