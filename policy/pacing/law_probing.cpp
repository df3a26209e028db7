// SPDX-License-Identifier: BSD-3-Clause
// Rounds of probes: the arms that the signature asks for, one after the other, each until it has a verdict; then a rest.
//
// Error control. The first round may spend 0.7 of the class's error, the k-th after it 0.3/(k(k+1)) (together at most 1 over any
// number of rounds); of that its first arm gets the larger part. An attempt that may spend a is engaged when the arm's earlier wealth and a * W together reach 1
// (probe.h). By Ville's inequality an arm without effect is then ever engaged with a probability of at most the sum of all that
// it may spend, and all arms of all classes together with at most error_percent (Bonferroni), whatever happened between the
// rounds: a re-engagement after a back-off is another attempt like any other. What an engaged arm had kept is gone.
#include <cmath>

#include "policy/pacing/law.h"

namespace paced::pacing {
namespace {

constexpr double first_round_share = 0.7;    // of the class's error: what there is to gain is mostly there from the start
constexpr double first_arm_share = 0.75;     // of a round's error: the signature says which it is
// Deviations of the probes' cost that may be noise: 0.5, and one more after the first pair, of which less and less is left as they grow in
// number (1/sqrt n). A single pair of bad luck must not cost a class all that it could gain.
constexpr double noise_credit = 0.5, first_credit = 1;
constexpr double shun_blocks = 64;           // a setting that loses is left alone so long, four times longer each time
constexpr std::uint32_t guessed_slots = 2, measured_slots = 1;  // what candidates_of gives, and what joins them later: each costs two pairs

bool acts_on_overload(Arm arm) { return arm == Arm::slots || arm == Arm::admit || arm == Arm::rate; }

}  // namespace

double Law::pair_scale() const { return off_.deviation(static_cast<std::uint32_t>(tuning_.block_iterations)) * 1.4142135623730951; }

// What the probes cost, less what may be noise, against what they may.
bool Law::may_probe(double allowance_blocks) const {
    const double block_ms = off_.mean_ns() / 1e6 * (tuning_.block_iterations + tuning_.washout_iterations);
    const double credit = noise_credit + (cost_pairs_ > 0 ? first_credit / std::sqrt(cost_pairs_) : 0);
    return cost_ms_ - credit * std::sqrt(cost_noise_ms2_) <= account_.total_ms * tuning_.exploration_percent / 100 + allowance_blocks * block_ms;
}

std::uint32_t Law::trial_of(const Setting& setting) {
    for (std::uint32_t i = 0; i < account_.count; ++i) {
        Trial& trial = account_.trials[i];
        // one that was engaged keeps its claim
        if (!are_alike(trial.setting, setting) || trial.engaged_iteration > 0) continue;
        trial.setting = setting;
        trial.ended = Ended::running;
        return i;
    }
    const std::uint32_t made = account_.count < trial_limit ? account_.count++ : trial_limit - 1;
    account_.trials[made] = Trial();
    account_.trials[made].setting = setting;
    account_.trials[made].first_iteration = account_.iterations;
    held_ns_[made] = held_iterations_[made] = 0;
    return made;
}

bool Law::begin_round(bool anyway) {
    Arm arms[arm_count];
    const std::uint32_t count = arms_to_try(facts_, off_.signature(facts_, tuning_), anyway, arms);
    plan_count_ = 0;
    for (std::uint32_t i = 0; i < count; ++i)
        if ((tuning_.without >> static_cast<std::uint32_t>(arms[i]) & 1) == 0) plan_[plan_count_++] = arms[i];
    plan_at_ = 0;
    round_lost_ = false;
    ++rounds_;
    if (begin_attempt()) return true;
    --rounds_;
    return false;
}

// The next arm of the plan that has a setting to try; false: none.
bool Law::begin_attempt() {
    for (; plan_at_ < plan_count_; ++plan_at_) {
        const Arm arm = plan_[plan_at_];
        Setting settings[candidate_limit];
        const std::uint32_t count = candidates_of(arm, facts_, off_, tuning_, settings);
        const double later = rounds_ - 1.0, of_round = rounds_ == 1 ? first_round_share : (1 - first_round_share) / (later * (later + 1));
        const double of_arm = plan_count_ == 1 ? 1 : plan_at_ == 0 ? first_arm_share : (1 - first_arm_share) / (plan_count_ - 1);
        const double stake = tuning_.error_percent / 100 * facts_.error_share * of_round * of_arm;
        probe_.begin(arm, pair_scale(), stake, wealth_[static_cast<std::uint32_t>(arm)], tuning_);
        for (std::uint32_t i = 0; i < count; ++i) {
            if (shunned_[static_cast<std::uint32_t>(arm)][i].until > account_.blocks) continue;
            probe_.add_candidate(settings[i], i, trial_of(settings[i]));
        }
        if (probe_.count() == 0) continue;
        if (arm == Arm::slots) probe_.reserve(measured_slots);
        phase_ = Phase::probing;
        account_.state = Ended::running;
        return true;
    }
    return false;
}

// running: the candidate whose pair is under way; candidate_limit: none is.
void Law::choose_pair(Pair& pair, std::uint32_t running) const {
    pair.candidate = probe_.choose(running);
    const Probe::Candidate& candidate = probe_.candidate(pair.candidate);
    pair.arm = candidate.setting;
    pair.trial = candidate.trial;
    pair.control = control_of(candidate.setting, off_);
    pair.control_trial = trial_limit;
    pair.least_iterations = candidate.test.count() == 0 ? tuning_.first_pair_iterations : tuning_.block_iterations;
}

// The pair after the running one, chosen without what that one will show: a pair's iterations need not wait then for a decision's way to all ranks
// and back, which is a third of them. Any choice that does not know the pair's own outcome keeps the test valid. A setting's first pair is
// waited for, since it may show that there must not be a second.
void Law::look_ahead() {
    has_ahead_ = refining_ || probe_.candidate(pair_.candidate).test.count() > 0;
    if (!has_ahead_) return;
    ahead_ = pair_;
    if (!refining_) choose_pair(ahead_, pair_.candidate);
    ahead_.arm_first = random_.coin();
    ahead_first_ = planned(ahead_.arm_first ? ahead_.arm : ahead_.control, ahead_.least_iterations);
}

Decision Law::next_pair() {
    if (role_ == Role::first) {
        const bool arm = !pair_.arm_first;
        decision_ = second();
        role_ = Role::second;
        trial_ = arm ? pair_.trial : pair_.control_trial;
        look_ahead();
        return decision_;
    }
    if (has_ahead_ && (refining_ || probe_.candidate(ahead_.candidate).out == Ended::running)) {
        pair_ = ahead_;
        decision_ = ahead_first_;
        role_ = Role::first;
        trial_ = pair_.arm_first ? pair_.trial : pair_.control_trial;
    } else {
        if (!refining_) choose_pair(pair_, candidate_limit);
        pair_.arm_first = random_.coin();
        run(Role::first, pair_.arm_first ? pair_.arm : pair_.control, pair_.arm_first ? pair_.trial : pair_.control_trial, pair_.least_iterations);
    }
    has_ahead_ = false;
    return decision_;
}

void Law::pair_done() {
    const Observation &arm = halves_[0], &control = halves_[1];
    const double length = whole_[0], noise_ms = control.mean_ns / 1e6 * length * off_.deviation(arm.iterations) * 1.4142135623730951;
    cost_ms_ += (arm.mean_ns - control.mean_ns) / 1e6 * length;
    cost_noise_ms2_ += noise_ms * noise_ms;
    ++cost_pairs_;
    account_.probe_cost_ms = cost_ms_;
    const bool severe = off_.is_severe(arm, tuning_);
    ++account_.trials[pair_.trial].pairs;
    role_ = Role::off;  // the pair is closed
    if (refining_) {
        refine_pair_done(control.log_mean - arm.log_mean, severe);
    } else {
        probe_pair_done(severe);
    }
}

void Law::write_probe(Trial& trial, const PairTest& test) const {
    if (test.count() == 0) return;  // never run: there is no interval
    const PairTest::Bounds bounds = test.bounds(0.05);
    trial.probe_gain = 100 * std::expm1(test.mean());
    trial.probe_low = 100 * std::expm1(bounds.low);
    trial.probe_high = 100 * std::expm1(bounds.high);
}

void Law::probe_pair_done(bool severe) {
    probe_.add(pair_.candidate, halves_[0], halves_[1], severe, tuning_);
    probe_.write(pair_.candidate, account_.trials[pair_.trial]);
    Ended verdict = probe_.verdict(tuning_);
    if (verdict == Ended::running && !may_probe(tuning_.allowance_blocks)) verdict = Ended::budget;
    if (verdict != Ended::running) {
        has_ahead_ = false;
        return end_attempt(verdict);
    }
    if (probe_.arm() == Arm::slots) add_measured_slot();
}

// The guess at a slot is as good as the quietest OFF block. A call's service under a slot that does not run into the next says which would have
// been right. It competes from then on: which setting the next pairs have may depend on all pairs before.
void Law::add_measured_slot() {
    const Probe::Candidate& measured = probe_.candidate(pair_.candidate);
    if (probe_.candidate(probe_.count() - 1).slot >= guessed_slots || shunned_[static_cast<std::uint32_t>(Arm::slots)][guessed_slots].until > account_.blocks) return;
    Setting slot;
    if (measured.test.count() != least_seen || !slot_of(measured.least_service_ns, measured.setting, facts_, off_, tuning_, slot)) return;
    // longer than its slot, and yet nothing is lost: what else a call takes (a core that is busy) does not keep the next one waiting
    if (slot.delay_ns > measured.setting.delay_ns && probe_.relieves(pair_.candidate)) return;
    for (std::uint32_t i = 0; i < probe_.count(); ++i)
        if (are_alike(probe_.candidate(i).setting, slot)) return;
    probe_.add_candidate(slot, guessed_slots, trial_of(slot));
}

void Law::end_attempt(Ended why) {
    const std::uint32_t arm = static_cast<std::uint32_t>(probe_.arm()), best = why == Ended::engaged ? probe_.gentlest(given_up) : probe_.best();
    for (std::uint32_t i = 0; i < probe_.count(); ++i) {
        const Probe::Candidate& candidate = probe_.candidate(i);
        Trial& trial = account_.trials[candidate.trial];
        const bool chosen = why == Ended::engaged && i == best;
        trial.ended = candidate.out != Ended::running ? candidate.out : chosen || why != Ended::engaged ? why : Ended::no_verdict;
        trial.decided_iteration = account_.iterations;
        write_probe(trial, candidate.test);
        // What spent the budget and was behind is not what the next round should begin with.
        if (candidate.out != Ended::loses && !(why == Ended::budget && candidate.test.mean() < 0)) continue;
        Shunned& shunned = shunned_[arm][candidate.slot];
        double blocks = shun_blocks * std::pow(4, shunned.times);
        if (blocks > tuning_.longest_backoff_blocks) blocks = tuning_.longest_backoff_blocks;
        shunned.until = account_.blocks + static_cast<std::uint64_t>(blocks);
        if (shunned.times < 16) ++shunned.times;
    }
    if (why == Ended::engaged) {
        wealth_[arm] = 0;
        const Probe::Candidate& chosen = probe_.candidate(best);
        engage(chosen.setting, chosen.trial, chosen.test.deviation());
        return;
    }
    wealth_[arm] = probe_.wealth() < 1 ? probe_.wealth() : 0.99;
    // Overload was taken away and that gained nothing: no other way to take it away will.
    const bool relieved = acts_on_overload(probe_.arm()) && probe_.relieved();
    ++plan_at_;
    while (relieved && plan_at_ < plan_count_ && acts_on_overload(plan_[plan_at_])) ++plan_at_;
    round_lost_ = round_lost_ || probe_.candidate(best).test.mean() < 0;
    if (why == Ended::budget || !begin_attempt()) rest(why);
}

void Law::rest(Ended why) {
    phase_ = Phase::resting;
    account_.state = why;
    account_.engaged = {};
    rest_left_ = static_cast<std::uint64_t>(backoff_);
    backoff_ *= round_lost_ ? 4 : 2;  // an arm that was behind is not worth asking about as soon
    if (backoff_ > tuning_.longest_backoff_blocks) backoff_ = tuning_.longest_backoff_blocks;
    quiet_ = 0;
    ++rests_;
    refining_ = false;
    restless_ = Setting();
}

void Law::engage(const Setting& setting, std::uint32_t trial, double scale) {
    phase_ = Phase::engaged;
    engagement_.begin(setting, trial, scale, tuning_, random_);
    account_.trials[trial].ended = account_.state = Ended::engaged;
    account_.trials[trial].decided_iteration = account_.trials[trial].engaged_iteration = account_.iterations;
    account_.engaged = setting;
    engaged_control_ = control_of(setting, off_);
    gentler_ = false;
    settled_ = false;
}

}  // namespace paced::pacing
