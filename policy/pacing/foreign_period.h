// SPDX-License-Identifier: BSD-3-Clause
// Does somebody else's traffic come round with a period of its own? Then the service of OFF blocks swings with the beat of the two. The
// autocorrelation of the last blocks' log service, at lags 2 to 16; fixed memory.
//
// Source: under white noise an autocorrelation at one lag is near N(0, 1/n) (Bartlett 1946); the limit below is 4.5 such deviations
// at n = 64, so that of 15 lags looked at over a whole job hardly one passes by chance.
#pragma once

#include <cstdint>

namespace paced::pacing {

class ForeignPeriod {
public:
    void add(double service_ns);
    // The beat in blocks, or 0.
    double blocks() const;

private:
    static constexpr std::uint32_t window = 64;  // a power of two
    static constexpr std::uint32_t longest_lag = 16;
    float logs_[window] = {};
    std::uint32_t count_ = 0;  // stays between window and 2 * window once it is there
};

}  // namespace paced::pacing
