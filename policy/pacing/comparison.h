// SPDX-License-Identifier: BSD-3-Clause
// Method `comparison`: rounds of blocks, one of every arm, each round in an order of its own drawn at random, for ever. What a benchmark
// needs: arms are compared within one job, within minutes, and nothing is decided.
#pragma once

#include <cstdint>

#include "policy/pacing/account.h"
#include "policy/pacing/observation.h"
#include "policy/pacing/off_window.h"
#include "policy/pacing/random.h"
#include "policy/pacing/ratio.h"
#include "policy/pacing/tuning.h"

namespace paced::pacing {

class Comparison {
public:
    // Writes one trial for each arm into the account, in the order in which they are named; what stood there is gone. ours: the setting that
    // the law found, off: none, and why.
    void begin(const Tuning& tuning, const Facts& facts, const OffWindow& off, const Setting& ours, Ended why, Account& account, Random& random);

    const Setting& setting() const { return setting_[order_[position_]]; }
    std::uint32_t trial() const { return order_[position_]; }
    // What comes after it in this round, if there is more.
    bool has_more() const { return position_ + 1 < count_; }
    const Setting& following() const { return setting_[order_[position_ + 1]]; }
    std::uint32_t round() const { return round_; }
    void block(const Observation& block, Account& account, Random& random);

private:
    void shuffle(Random& random);

    Setting setting_[compared_limit];
    std::uint32_t order_[compared_limit] = {};
    std::uint32_t count_ = 0, position_ = 0, round_ = 0, off_ = compared_limit;  // off_: the arm that the others are compared with
    double round_ns_[compared_limit] = {};
    RatioOfMeans ratio_[compared_limit];
    Moments moments_[compared_limit];
};

}  // namespace paced::pacing
