// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/clock.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace paced::report {

namespace {

constexpr double drift_max = 30e-6;

// A sample from a broken message must not overflow what is added to it.
bool is_sane(const ClockSample& sample) {
    constexpr std::int64_t limit_ns = std::int64_t{1} << 61;
    return sample.local_ns < static_cast<std::uint64_t>(limit_ns) && std::abs(sample.offset_ns) < limit_ns && sample.error_ns >= 0 &&
           sample.error_ns < limit_ns;
}

LeaderTime from_one(const ClockSample& sample, std::uint64_t local_ns) {
    const auto local = static_cast<std::int64_t>(local_ns);
    const auto distance = std::abs(static_cast<double>(local - static_cast<std::int64_t>(sample.local_ns)));
    return {local + sample.offset_ns, sample.error_ns + static_cast<std::int64_t>(distance * drift_max)};
}

}  // namespace

Clock::Clock(std::vector<ClockSample> samples) : samples_(std::move(samples)), own_(false) {
    std::erase_if(samples_, [](const ClockSample& sample) { return !is_sane(sample); });
    known_ = !samples_.empty();
    std::stable_sort(samples_.begin(), samples_.end(),
                     [](const ClockSample& a, const ClockSample& b) { return a.local_ns < b.local_ns; });
}

LeaderTime Clock::to_leader(std::uint64_t local_ns) const {
    if (own_ || samples_.empty()) return {static_cast<std::int64_t>(local_ns), 0};
    const auto after = std::upper_bound(samples_.begin(), samples_.end(), local_ns,
                                        [](std::uint64_t time, const ClockSample& sample) { return time < sample.local_ns; });
    if (after == samples_.begin()) return from_one(*after, local_ns);
    if (after == samples_.end()) return from_one(*std::prev(after), local_ns);
    const ClockSample& a = *std::prev(after);
    const ClockSample& b = *after;
    const double share = static_cast<double>(local_ns - a.local_ns) / static_cast<double>(b.local_ns - a.local_ns);
    const auto offset = a.offset_ns + std::llround(share * static_cast<double>(b.offset_ns - a.offset_ns));
    return {static_cast<std::int64_t>(local_ns) + offset, std::max(a.error_ns, b.error_ns)};
}

}  // namespace paced::report
