// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/period.h"

namespace paced::pacing {
namespace {

constexpr std::uint32_t least_window = 64;   // calls that a short period must explain too, where there are as many
constexpr std::uint32_t patience = 3;        // searches in a row without it before a period is given up

// splitmix64's finalizer
constexpr std::uint64_t mix(std::uint64_t value) {
    value += 0x9e37'79b9'7f4a'7c15;
    value = (value ^ value >> 30) * 0xbf58'476d'1ce4'e5b9;
    value = (value ^ value >> 27) * 0x94d0'49bb'1331'11eb;
    return value ^ value >> 31;
}

}  // namespace

void PeriodFinder::follow_marks(std::uint64_t marks) {
    const bool whole = marks == last_marks_ + 1 && last_marks_ != 0;
    equal_ = !whole ? 0 : since_mark_ == interval_ ? equal_ + 1 : 1;
    interval_ = whole ? since_mark_ : 0;
    since_mark_ = 0;
    last_marks_ = marks;
}

std::uint32_t PeriodFinder::marked() const {
    const bool fits = interval_ > 0 && interval_ <= period_history && calls_ > interval_;
    return fits && equal_ >= 2 && since_mark_ <= 2 * interval_ ? interval_ : 0;
}

bool PeriodFinder::explains(std::uint32_t period, std::uint32_t window, bool with_context) const {
    for (std::uint32_t i = 0; i + period < window; ++i) {
        const Entry &one = back(i), &other = back(i + period);
        if (one.symbol != other.symbol || (with_context && one.context != other.context)) return false;
    }
    return true;
}

std::uint32_t PeriodFinder::smallest(std::uint32_t known, bool with_context) const {
    for (std::uint32_t period = 1; period <= longest_period && 3 * period <= known; ++period) {
        const std::uint32_t common = known < least_window ? known : least_window;
        if (explains(period, 3 * period > common ? 3 * period : common, with_context)) return period;
    }
    return 0;
}

void PeriodFinder::look() {
    next_look_ = look_after(calls_);
    // The first call's context is all that went before.
    const auto known = static_cast<std::uint32_t>(calls_ - 1 < period_history ? calls_ - 1 : period_history);
    std::uint32_t found = marked();
    if (found == 0) found = smallest(known, true);
    const bool by_context = found != 0;
    if (found == 0) found = smallest(known, false);
    // A checkpoint in the middle is no new program, and what was found in context is worth more than what was not.
    const bool is_worse = period_ != 0 && (found == 0 || (by_context_ && !by_context));
    if (is_worse && ++misses_ < patience) return;
    misses_ = 0;
    period_ = found;
    by_context_ = by_context;
    describe();
}

void PeriodFinder::describe() {
    signature_ = bytes_ = 0;
    if (period_ == 0) return;
    // A sum over neighbours is the same wherever the period is cut.
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < period_; ++i) {
        const Entry &one = back(i), &next = back(i == 0 ? period_ - 1 : i - 1);
        sum += mix(std::uint64_t{one.symbol} << 32 | next.symbol);
        if (one.bytes > bytes_) bytes_ = one.bytes;
    }
    signature_ = mix(sum ^ period_);
    if (signature_ == 0) signature_ = 1;
}

bool PeriodFinder::is_data_next() const {
    if (period_ == 0) return false;
    const Entry& before = back(period_ - 1);
    if ((before.symbol & 0xff) == own_bytes_class) return true;
    return before.bytes > 0 && before.bytes >= bytes_ / 4;
}

}  // namespace paced::pacing
