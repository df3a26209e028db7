// SPDX-License-Identifier: BSD-3-Clause
// The control law of one class: what its next block runs under, given what its last one showed. A pure step function with
// fixed memory (under 64 KB): the same object in the interposer and in the simulator. No allocation, no exception, no libstdc++ at run
// time (libm alone), no clock, no randomness but its own seeded generator. One thread at a time.
//
// A class is the set of communicators that behave alike (same size, operations, bytes and bottleneck): the parallel groups of one
// program are probed together, since pacing one of them alone would hand its share of the link to the others.
//
//     baseline  OFF blocks: how long, how noisy, what signature (off_window.h)
//     probing   pairs of blocks (setting, OFF) in random order; an always-valid test of log T_off - log T_setting (pair_test.h, probe.h)
//     engaged   the setting, with OFF holdout blocks from which the gain is claimed (engagement.h)
//     resting   OFF, for a back-off that doubles with every round of probes, and for as long as nothing is seen to gain
//     ended     OFF for good: fault, straggler, or no arm can act here
// docs/pacing.md says why.
#pragma once

#include <cstdint>

#include "policy/pacing/account.h"
#include "policy/pacing/arms.h"
#include "policy/pacing/block.h"
#include "policy/pacing/comparison.h"
#include "policy/pacing/engagement.h"
#include "policy/pacing/observation.h"
#include "policy/pacing/off_window.h"
#include "policy/pacing/probe.h"
#include "policy/pacing/random.h"
#include "policy/pacing/setting.h"
#include "policy/pacing/tuning.h"

namespace paced::pacing {

class Law {
public:
    Law() = default;
    Law(const Tuning& tuning, const Facts& facts, std::uint64_t seed);

    // The first block, before anything is known.
    Decision first();
    // The next one. An observation that is invalid, makes no sense or is of another setting than the one decided is forgotten,
    // and its block repeated; too many of them in a row are a fault.
    Decision step(const Observation& observation);
    // The decision after the running one, where it hardly depends on what the running block shows: the second half of a pair, or the next pair's
    // first. It can then be told before the running block ends, so that nothing lies between the two; step() answers it unless the running
    // block has changed the law's mind.
    bool following(Decision& to) const;
    // As it is known by now: sockets may be found and looked at, and ranks started, after the class was.
    void surroundings(bool tcp, bool pays_for_waiting, std::uint64_t socket_bytes);
    // Something unexpected in this class: off, now and for good.
    void fault();
    // The class's loop has ended for good, or with the job: likewise.
    void move_on();
    // The loop was left for another one, and has begun again: the block under way then is repeated, and what ran before it is no neighbour.
    void resume();
    // The job ended: what is still being tried will not be decided.
    void finish();
    // Off for good? Then nothing more needs to be exchanged about this class.
    bool is_over() const { return phase_ == Phase::over; }
    const Account& account() const { return account_; }
    // The block that the last step() was told of.
    const BlockLog& last_block() const { return last_; }

private:
    enum class Phase : std::uint8_t { baseline, resting, probing, engaged, fixed, comparing, over };
    enum class Role : std::uint8_t { off, first, second, engaged, holdout, fixed, compared };
    struct Pair {
        Setting arm, control;
        std::uint32_t candidate = 0, trial = 0, control_trial = trial_limit;
        bool arm_first = false;
        double least_iterations = 0;
    };

    Decision planned(const Setting& setting, double least_iterations) const;
    Decision second() const;
    Decision run(Role role, const Setting& setting, std::uint32_t trial, double least_iterations);
    Decision next();
    bool take(const Observation& block);          // false: void
    void learn(const Observation& block);
    void end(Ended why);
    void let_go(Ended why);

    // probing (law_probing.cpp)
    static constexpr double given_up = 0.1;         // of the gain, for a gentler setting: a time-out that is rare does not show in a few pairs
    static constexpr std::uint32_t least_seen = 2;  // pairs of a setting that competes again; with fewer it was not worth its pairs (probe.cpp)
    bool begin_round(bool anyway);
    bool begin_attempt();
    void end_attempt(Ended why);
    void rest(Ended why);
    bool may_probe(double allowance_blocks) const;
    Decision next_pair();
    void choose_pair(Pair& pair, std::uint32_t running) const;
    void look_ahead();
    void pair_done();
    void probe_pair_done(bool severe);
    void add_measured_slot();
    void engage(const Setting& setting, std::uint32_t trial, double scale);
    std::uint32_t trial_of(const Setting& setting);
    void write_probe(Trial& trial, const PairTest& test) const;
    double pair_scale() const;
    bool begin_comparison();

    // beside the engaged setting (law_refining.cpp)
    bool begin_refining();
    bool is_calm(double cv) const;
    bool competitor(bool gentler, Setting& to) const;
    bool next_to_engaged(bool gentler, Setting& to) const;
    Ended refine_verdict(bool severe) const;
    void refine_pair_done(double difference, bool severe);

    Tuning tuning_;
    Facts facts_;
    Random random_;
    Account account_;
    BlockLog last_;
    OffWindow off_;

    Phase phase_ = Phase::baseline;
    Role role_ = Role::off;
    Decision decision_;                   // what runs now
    std::uint32_t trial_ = trial_limit;   // whose block it is; trial_limit: nobody's
    std::uint32_t invalid_ = 0;           // in a row

    // rounds of probes
    Arm plan_[arm_count] = {};
    std::uint32_t plan_count_ = 0, plan_at_ = 0, rounds_ = 0, rests_ = 0;
    bool round_lost_ = false;             // an arm of this round was behind OFF when it was given up
    Probe probe_;
    double wealth_[arm_count] = {};       // what each arm's attempts have kept (probe.h)
    struct Shunned {
        std::uint64_t until = 0;          // block
        std::uint32_t times = 0;
    } shunned_[arm_count][candidate_limit];
    double backoff_ = 0, recheck_ = 0;    // blocks
    std::uint64_t rest_left_ = 0, quiet_ = 0;
    double cost_ms_ = 0, cost_noise_ms2_ = 0, cost_pairs_ = 0;

    Pair pair_, ahead_;                   // the running one, and the one that is announced to follow it
    bool has_ahead_ = false;
    Decision ahead_first_;                // the first half of ahead_
    bool refining_ = false;               // pairs are of a setting beside the engaged one
    bool gentler_ = false;                // for less scatter, not for a shorter mean
    Observation halves_[2];               // of the running pair: arm, control
    std::uint32_t whole_[2] = {};         // iterations, washout included

    Engagement engagement_;
    Setting engaged_control_;             // what its holdouts run under: OFF, but for a phase
    PairTest refine_;                     // of pair_.arm against the engaged setting, while pair_.refining
    Moments refined_;                     // iterations under pair_.arm in these
    double refine_wait_ = 0;
    Setting restless_;                    // engaged once and left since it was not calm: what is as bold is not tried again
    bool settled_ = false;                // there is nothing beside the engaged setting to try

    Comparison comparison_;
    Moments fixed_;
    double held_ns_[trial_limit] = {}, held_iterations_[trial_limit] = {};
};
static_assert(sizeof(Law) < 65536);

}  // namespace paced::pacing
