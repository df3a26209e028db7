// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/foreign_period.h"

#include <cmath>

namespace paced::pacing {

void ForeignPeriod::add(double service_ns) {
    if (!(service_ns > 0) || !std::isfinite(service_ns)) return;
    logs_[count_ % window] = static_cast<float>(std::log(service_ns));
    if (++count_ == 2 * window) count_ = window;
}

double ForeignPeriod::blocks() const {
    constexpr double limit = 0.56;
    if (count_ < window) return 0;
    double ordered[window], mean = 0, variance = 0;
    for (std::uint32_t i = 0; i < window; ++i) mean += ordered[i] = static_cast<double>(logs_[(count_ + i) % window]);
    mean /= window;
    for (double& value : ordered) {
        value -= mean;
        variance += value * value;
    }
    if (!(variance > 1e-9)) return 0;
    double at[longest_lag + 2] = {};
    for (std::uint32_t lag = 1; lag <= longest_lag + 1; ++lag) {
        for (std::uint32_t i = 0; i + lag < window; ++i) at[lag] += ordered[i] * ordered[i + lag];
        at[lag] /= variance * (window - lag) / window;
    }
    // A period, not a drift: a peak, after the correlation has once fallen below nothing.
    bool fell = at[1] < 0;
    for (std::uint32_t lag = 2; lag <= longest_lag; ++lag) {
        if (fell && at[lag] > limit && at[lag] >= at[lag - 1] && at[lag] >= at[lag + 1]) return lag;
        fell = fell || at[lag] < 0;
    }
    return 0;
}

}  // namespace paced::pacing
