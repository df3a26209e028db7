// SPDX-License-Identifier: BSD-3-Clause
// What is tried beside an engaged setting: one that may shorten the mean, and one that is gentler where the engaged one still meets time-outs.
// Both belong to an arm that has shown its gain, so that less proof is asked for than in a probe.
#include "policy/pacing/law.h"

namespace paced::pacing {
namespace {

constexpr std::uint32_t least_refine = 4, most_refine = 12;  // pairs
constexpr double refine_proof = 2.3;         // log 10: both settings belong to an arm that has shown its gain
constexpr std::uint32_t least_gentler = 6;   // pairs of a gentler setting: 48 iterations
constexpr double no_timeouts = 0.1;          // CV: one of 200 ms among 400 iterations of 100 ms
constexpr double half_lost = 0.5;            // of the gain: nothing more needs to be seen of it

}  // namespace

// Do iterations scatter so little, against OFF's, that no time-out is left among them?
bool Law::is_calm(double cv) const { return cv <= no_timeouts || cv <= off_.cv() * tuning_.calm_percent / 100; }

// One that was paired before and did not clearly lose, but not what is as bold as a setting that was left for not being calm. A gentler one may be
// asked about again, at growing distances (refine_wait_): how often the engaged one meets time-outs shows with time.
bool Law::competitor(bool gentler, Setting& to) const {
    const Setting& engaged = engagement_.setting();
    std::uint32_t least = 0;
    for (std::uint32_t i = 0; i < account_.count; ++i) {
        const Trial& trial = account_.trials[i];
        const Setting& other = trial.setting;
        if (other.arm != engaged.arm || trial.pairs < least_seen || are_alike(other, engaged) || is_as_bold(other, restless_)) continue;
        const bool is_open = trial.ended == Ended::no_verdict || (gentler && (trial.ended == Ended::not_better || trial.ended == Ended::replaced));
        if (!is_open || (gentler && !is_as_bold(engaged, other)) || (least > 0 && trial.pairs >= least)) continue;
        least = trial.pairs;
        to = other;
    }
    return least > 0;
}

// A setting beside the engaged one that is worth its pairs, each once: one that is gentler where the engaged one is not calm; else what may shorten
// the mean, which is the slot that the engaged blocks' service asks for, or the neighbour that AIMD proposes, or a competitor.
bool Law::next_to_engaged(bool gentler, Setting& to) const {
    const Setting& engaged = engagement_.setting();
    const auto is_new = [&] {
        for (std::uint32_t i = 0; i < account_.count; ++i)
            if (are_alike(account_.trials[i].setting, to)) return false;
        return !is_as_bold(to, restless_);
    };
    if (gentler) return competitor(true, to) || (neighbour_of(engaged, true, facts_, to) && is_new());
    const bool proposed = engaged.arm == Arm::slots ? slot_of(engagement_.least_service_ns(), engaged, facts_, off_, tuning_, to)
                                                    : neighbour_of(engaged, engagement_.congested(), facts_, to);
    return (proposed && is_new()) || competitor(false, to);
}

bool Law::begin_refining() {
    if (!engagement_.between_cycles() || engagement_.blocks() < refine_wait_) return false;
    Setting proposed;
    const bool calm = is_calm(engagement_.iterations().cv());
    gentler_ = !calm && !gentler_;  // the two questions by turns
    bool wanted = next_to_engaged(gentler_, proposed);
    if (!wanted && !calm) {
        gentler_ = !gentler_;
        wanted = next_to_engaged(gentler_, proposed);
    }
    settled_ = !wanted;
    engagement_.forget_blocks();
    if (!wanted || !may_probe(0)) return false;
    refining_ = true;
    proposed.cap_ns = 0;
    pair_.arm = with_cap(proposed, facts_, off_, tuning_);
    pair_.control = engagement_.setting();
    pair_.trial = trial_of(pair_.arm);
    pair_.control_trial = engagement_.trial();
    pair_.least_iterations = tuning_.block_iterations;
    refine_.clear(pair_scale(), {PairTest::Side::above, 0});
    refined_ = Moments();
    return true;
}

// A gentler setting is judged by all that the engaged one has shown, since the time-outs that it is to end are rare. What it may give up for that
// is what a bolder one must bring.
Ended Law::refine_verdict(bool severe) const {
    if (severe) return Ended::loses;
    const Moments& engaged = engagement_.iterations();
    const double gain = off_.mean_ns() - engaged.mean(), longer = (refined_.mean() - engaged.mean()) / (gain > 0 ? gain : 1);
    if (gentler_) {
        if (refine_.count() >= least_gentler && longer <= (refine_.count() < most_refine ? 0 : given_up) && refined_.cv() < engaged.cv()) return Ended::engaged;
        if (refine_.count() >= 2 && longer > half_lost) return Ended::not_better;
    } else {
        if (refine_.count() >= 2 && refine_.mean() <= 0) return Ended::not_better;
        if (refine_.count() >= least_refine && refine_.log_wealth() >= refine_proof)
            return is_as_bold(pair_.arm, engagement_.setting()) && longer > -given_up ? Ended::not_better : Ended::engaged;
    }
    return refine_.count() >= most_refine || !may_probe(tuning_.allowance_blocks) ? Ended::not_better : Ended::running;
}

void Law::refine_pair_done(double difference, bool severe) {
    refine_.add(difference);
    refined_.add(halves_[0].iterations, halves_[0].mean_ns, halves_[0].cv);
    const Ended verdict = refine_verdict(severe);
    if (verdict == Ended::running) return;
    refining_ = has_ahead_ = false;
    Trial& trial = account_.trials[pair_.trial];
    write_probe(trial, refine_);
    engagement_.interrupted();
    if (verdict == Ended::engaged) {
        if (gentler_) restless_ = engagement_.setting();
        Trial& replaced = account_.trials[engagement_.trial()];
        replaced.ended = Ended::replaced;
        replaced.decided_iteration = account_.iterations;
        engage(pair_.arm, pair_.trial, refine_.deviation());
        return;
    }
    trial.ended = verdict;
    trial.decided_iteration = account_.iterations;
    refine_wait_ = refine_wait_ * 2 < tuning_.longest_backoff_blocks ? refine_wait_ * 2 : tuning_.longest_backoff_blocks;
}

}  // namespace paced::pacing
