// SPDX-License-Identifier: BSD-3-Clause
// One attempt to show that an arm gains. Its settings compete: each gets two pairs, then the one that could be the best gets the
// next. Half of the stake is on all pairs of the arm together, so that nothing spent on choosing is lost where several settings gain;
// the other half is divided among the settings, each on its own pairs, so that a bad one does not hide a good one. That is valid
// because the setting of a pair is chosen before the pair is run: under "this arm has no effect" every D is symmetric whichever
// setting it came from, and a mean of such wealths is one too.
// Source of the choice: upper confidence bounds, Auer, Cesa-Bianchi, Fischer 2002, Machine Learning 47.
#pragma once

#include <cstdint>

#include "policy/pacing/account.h"
#include "policy/pacing/arms.h"
#include "policy/pacing/pair_test.h"
#include "policy/pacing/ratio.h"
#include "policy/pacing/tuning.h"

namespace paced::pacing {

class Probe {
public:
    // TCP segments sent again.
    struct Resent {
        double segments = 0, iterations = 0;

        void add(const Observation& block) {
            segments += static_cast<double>(block.retransmissions);
            iterations += block.iterations;
        }
        double of_iteration() const { return iterations > 0 ? segments / iterations : 0; }
    };
    // Values one by one: their mean, and the sum of squares about it (Welford).
    struct Scatter {
        double count = 0, mean = 0, squares = 0;

        void add(double value) {
            const double from = value - mean;
            mean += from / ++count;
            squares += from * (value - mean);
        }
    };
    struct Candidate {
        Setting setting;
        PairTest test;                     // against "it gains": when to give it up
        PairTest gain;                     // against "it does not"
        RatioOfMeans ratio;
        Moments blocks, control;           // iterations under the setting, and of what it is paired with
        std::uint32_t slot = 0;            // the candidate's place among those of its arm
        std::uint32_t trial = 0;           // index into the account
        std::uint32_t losing = 0;          // pairs in a row that lost beyond noise
        Resent resent;
        Scatter blocks_log, pairs_log;     // log means of its blocks; and of OFF's less them
        double least_service_ns = 0;       // of a call, over its blocks
        Ended out = Ended::running;        // or why nothing more is tried of it
    };

    // stake: the part of the job's error that this attempt may spend; wealth: what earlier attempts of the arm kept, in the same measure, so
    // that the arm is engaged when wealth + stake * W reaches 1.
    void begin(Arm arm, double scale, double stake, double wealth, const Tuning& tuning);
    void add_candidate(const Setting& setting, std::uint32_t slot, std::uint32_t trial);
    // So many may be added later, between two pairs: their parts of the stake are kept for them.
    void reserve(std::uint32_t candidates);

    // The candidate of the next pair. running: that of one which is under way, counted as if it were over; candidate_limit: none is.
    std::uint32_t choose(std::uint32_t running = candidate_limit) const;
    // The pair's outcome; severe: the setting's block was so bad that it is given up.
    void add(std::uint32_t index, const Observation& setting, const Observation& control, bool severe, const Tuning& tuning);
    // Means and CVs of both into the trial.
    void write(std::uint32_t index, Trial& trial) const;
    // running: go on; engaged: best() has shown its gain; else why not.
    Ended verdict(const Tuning& tuning) const;

    Arm arm() const { return arm_; }
    std::uint32_t count() const { return count_; }
    const Candidate& candidate(std::uint32_t index) const { return candidates_[index]; }
    std::uint32_t best() const;
    // The gentlest of those whose iterations take no longer than under best() and this part of what that one gains.
    std::uint32_t gentlest(double part_of_gain) const;
    // One of the settings, or this one, all but ended that segments are sent again.
    bool relieved() const;
    bool relieves(std::uint32_t index) const { return resent_.of_iteration() >= 1 && relieves(candidates_[index]); }
    // What this attempt leaves to the arm's next.
    double wealth() const;

private:
    struct Ranking {
        bool by_blocks = false;            // else by pairs
        double deviation = 0;              // of one

        double value(const Candidate& candidate) const { return by_blocks ? -candidate.blocks_log.mean : candidate.pairs_log.mean; }
    };
    Ranking ranking() const;
    bool relieves(const Candidate& candidate) const;
    bool is_idle(const Candidate& candidate, bool another_relieves) const;

    Arm arm_ = Arm::off;
    Candidate candidates_[candidate_limit];
    std::uint32_t count_ = 0, places_ = 0;
    PairTest all_;
    Resent resent_;                        // without the settings
    double scale_ = 0.1, worth_ = 0;
    double stake_ = 0, kept_ = 0;
};

}  // namespace paced::pacing
