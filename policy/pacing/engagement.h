// SPDX-License-Identifier: BSD-3-Clause
// An engaged setting and its OFF holdouts. In each cycle of blocks one, drawn at random, runs OFF; it is paired with the engaged blocks
// beside it. The claimed gain comes from these alone, and the arm is given up when they no longer show one.
//
// For the test a coin picks the block before or the one after, so that the pair's order is random as in a probe; the claim uses both,
// which scatters less.
#pragma once

#include <cstdint>

#include "policy/pacing/account.h"
#include "policy/pacing/observation.h"
#include "policy/pacing/off_window.h"
#include "policy/pacing/pair_test.h"
#include "policy/pacing/random.h"
#include "policy/pacing/ratio.h"
#include "policy/pacing/tuning.h"

namespace paced::pacing {

class Engagement {
public:
    // setting: with its cap. scale: what one pair's difference scatters by.
    void begin(const Setting& setting, std::uint32_t trial, double scale, const Tuning& tuning, Random& random);

    const Setting& setting() const { return setting_; }
    std::uint32_t trial() const { return trial_; }
    // Is the next block an OFF one?
    bool wants_off() const { return checking_ || position_ == off_at_; }
    // Between two cycles and with no pair half done: something else may be tried.
    bool between_cycles() const { return position_ == 0 && !checking_ && !holdout_open_; }

    // The outcome of an engaged block, or of the OFF one. running: go on; else why it is given up.
    Ended engaged_block(const Observation& block, const OffWindow& off, const Tuning& tuning, Random& random);
    Ended off_block(const Observation& block, const Tuning& tuning);
    // What ran before the next block was something else: it is no neighbour.
    void interrupted() { before_ns_ = 0; }

    // Blocks since the last question, and whether segments were sent again in them.
    std::uint32_t blocks() const { return blocks_; }
    // Of all engaged blocks.
    const Moments& iterations() const { return engaged_; }
    bool congested() const { return retransmissions_ >= blocks_; }
    // Of a call in them, the least of a block.
    double least_service_ns() const { return least_service_ns_; }
    void forget_blocks() {
        blocks_ = 0;
        retransmissions_ = 0;
        least_service_ns_ = 0;
    }

    // Into the trial: gain, interval, engaged and OFF means and CVs.
    void write(Trial& trial) const;

private:
    void new_cycle(const Tuning& tuning, Random& random);
    Ended verdict() const;

    Setting setting_;
    std::uint32_t trial_ = 0;
    PairTest test_;
    RatioOfMeans ratio_;
    Moments engaged_, off_;
    std::uint32_t holdouts_ = 0;
    std::uint32_t length_ = 0, position_ = 0, off_at_ = 0;
    bool holdout_open_ = false;            // the OFF block is measured, the engaged one after it is not
    double before_ns_ = 0, before_log_ = 0, off_ns_ = 0, off_log_ = 0;
    std::uint32_t losing_ = 0;             // holdouts in a row that were faster than what they were paired with
    std::uint32_t severe_ = 0;             // engaged blocks in a row that were much worse than OFF
    bool checking_ = false;                // after two of them: OFF now, outside the experiment
    double severe_log_ = 0;                // the better of the two
    std::uint32_t late_ = 0;               // blocks in a row with too many timeouts
    std::uint32_t blocks_ = 0;
    std::uint64_t retransmissions_ = 0;
    double least_service_ns_ = 0;
};

}  // namespace paced::pacing
