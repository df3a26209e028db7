// SPDX-License-Identifier: BSD-3-Clause
// What happens to every block, and what runs next. Probing is in law_probing.cpp, what is tried beside an engaged setting in
// law_refining.cpp.
#include "policy/pacing/law.h"

#include <cmath>

namespace paced::pacing {
namespace {

constexpr double longest_ns = 1e15;              // 11 days: no iteration
constexpr double most_iterations = 1 << 20;      // of a block

constexpr double most_cv = 1e3;
constexpr std::uint32_t most_taken = 1u << 24;   // iterations of a block that somebody may claim

bool is_time(double ns) { return ns >= 1 && ns < longest_ns; }  // also refuses NaN
double cleaned(double ns) { return is_time(ns) ? ns : 0; }

}  // namespace

Law::Law(const Tuning& tuning, const Facts& facts, std::uint64_t seed)
    : tuning_(tuning), facts_(facts), random_(seed), backoff_(tuning.first_backoff_blocks), recheck_(tuning.recheck_blocks), refine_wait_(tuning.refine_blocks) {}

Decision Law::first() {
    bool any = tuning_.method != Method::ours && facts_.window_ns != 0;
    for (std::uint32_t i = 0; i < arm_count && !any; ++i) any = can_act(static_cast<Arm>(i), facts_);
    if (!any) end(Ended::not_applicable);
    return run(Role::off, Setting(), trial_limit, tuning_.block_iterations);
}

// least_iterations: fewer only where the block would not last block_ms.
Decision Law::planned(const Setting& setting, double least_iterations) const {
    const bool rate = setting.arm == Arm::rate || decision_.setting.arm == Arm::rate;
    Decision decision;
    decision.setting = setting;
    decision.washout = static_cast<std::uint32_t>(rate ? tuning_.rate_washout_iterations : tuning_.washout_iterations);
    const double mean = off_.mean_ns(), lasting = mean > 0 ? std::ceil(tuning_.block_ms * 1e6 / mean) : 0;
    double iterations = lasting > least_iterations ? lasting : least_iterations;
    if (iterations > most_iterations) iterations = most_iterations;
    decision.iterations = static_cast<std::uint32_t>(iterations) + decision.washout;
    return decision;
}

Decision Law::run(Role role, const Setting& setting, std::uint32_t trial, double least_iterations) {
    decision_ = planned(setting, least_iterations);
    role_ = role;
    trial_ = trial;
    return decision_;
}

// As long as the first half, whatever that has taught about an iteration's length.
Decision Law::second() const {
    Decision decision = planned(pair_.arm_first ? pair_.control : pair_.arm, 0);
    decision.iterations = decision_.iterations - decision_.washout + decision.washout;
    return decision;
}

bool Law::following(Decision& to) const {
    switch (role_) {
        case Role::first: to = second(); return true;
        case Role::second:
            to = ahead_first_;
            return has_ahead_;
        case Role::off:
            if (phase_ != Phase::baseline || off_.count() + 1 >= tuning_.baseline_blocks) return false;
            to = planned(Setting(), tuning_.block_iterations);
            return true;
        case Role::compared:
            if (!comparison_.has_more()) return false;
            to = planned(comparison_.following(), tuning_.block_iterations);
            return true;
        default: return false;
    }
}

Decision Law::step(const Observation& observation) {
    if (is_over()) return decision_;
    ++account_.blocks;
    last_ = {account_.blocks, observation.ran, observation.iterations, false, cleaned(observation.mean_ns), observation.cv >= 0 && observation.cv < most_cv ? observation.cv : 0};
    if (phase_ == Phase::comparing) {
        last_.round = comparison_.round();
        last_.ours = trial_ < account_.count && account_.trials[trial_].ours;
    }
    Observation block = observation;
    if (!take(block)) {
        ++account_.void_blocks;
        if (++invalid_ >= tuning_.most_invalid) fault();
        return decision_;
    }
    block.service_ns = cleaned(block.service_ns);
    block.longest_service_ns = cleaned(block.longest_service_ns);
    block.shortest_service_ns = cleaned(block.shortest_service_ns);
    block.earliness_ns = cleaned(block.earliness_ns);
    block.straggler_ns = cleaned(block.straggler_ns);
    block.held_ns = cleaned(block.held_ns);
    invalid_ = 0;
    last_.valid = true;
    learn(block);
    return is_over() ? decision_ : next();
}

bool Law::take(const Observation& block) {
    return block.valid && block.iterations > 0 && block.iterations < most_taken && block.ran == decision_.setting && is_time(block.mean_ns) &&
           std::fabs(block.log_mean) < 50 && block.cv >= 0 && block.cv < most_cv;
}

void Law::learn(const Observation& block) {
    const double whole = static_cast<double>(block.iterations) + decision_.washout;
    account_.iterations += block.iterations + decision_.washout;
    if (block.at_iteration > account_.iterations) account_.iterations = block.at_iteration;
    account_.total_ms += block.mean_ns * whole / 1e6;
    if (block.ran.arm == Arm::off) off_.add(block);
    if (trial_ < account_.count) {
        ++account_.trials[trial_].blocks;
        held_ns_[trial_] += block.held_ns / (static_cast<double>(facts_.communicators > 0 ? facts_.communicators : 1) * (facts_.size > 0 ? facts_.size : 1));
        held_iterations_[trial_] += block.iterations;
        account_.trials[trial_].held_calls += block.held;
        account_.trials[trial_].timeouts += block.timeouts;
        account_.trials[trial_].held_ms = held_ns_[trial_] / held_iterations_[trial_] / 1e6;
    }
    switch (role_) {
        case Role::off: break;
        case Role::first:
        case Role::second: {
            const std::uint32_t of = (role_ == Role::first) == pair_.arm_first ? 0 : 1;
            halves_[of] = block;
            whole_[of] = block.iterations + decision_.washout;
            if (role_ == Role::second) pair_done();
            break;
        }
        case Role::engaged:
        case Role::holdout: {
            const Ended verdict = role_ == Role::engaged ? engagement_.engaged_block(block, off_, tuning_, random_) : engagement_.off_block(block, tuning_);
            Trial& trial = account_.trials[engagement_.trial()];
            engagement_.write(trial);
            if (verdict == Ended::running) break;
            trial.ended = verdict;
            trial.decided_iteration = account_.iterations;
            rest(verdict);
            break;
        }
        case Role::fixed: {
            fixed_.add(block.iterations, block.mean_ns, block.cv);
            Trial& trial = account_.trials[0];
            trial.mean_ms = fixed_.mean() / 1e6;
            trial.cv = fixed_.cv();
            break;
        }
        case Role::compared: comparison_.block(block, account_, random_); break;
    }
}

Decision Law::next() {
    const double block = tuning_.block_iterations;
    if (phase_ == Phase::baseline) {
        if (tuning_.method == Method::fixed) {
            phase_ = Phase::fixed;
            account_.count = 1;
            account_.trials[0].setting = account_.engaged = with_cap(tuning_.fixed, facts_, off_, tuning_);
            account_.trials[0].first_iteration = account_.trials[0].engaged_iteration = account_.iterations;
            account_.trials[0].ended = account_.state = Ended::engaged;
        } else if (off_.count() < tuning_.baseline_blocks || off_.suspects_straggler(tuning_)) {
            return run(Role::off, Setting(), trial_limit, block);
        } else {
            phase_ = Phase::resting;
        }
    }
    if (phase_ == Phase::resting) {
        if (off_.has_straggler(tuning_)) {
            end(Ended::straggler);
        } else if (rest_left_ > 0) {
            --rest_left_;
        } else if (may_probe(0) && !begin_round(false)) {
            if (account_.state == Ended::running) account_.state = Ended::no_gain;
            if (static_cast<double>(++quiet_) >= recheck_) {
                quiet_ = 0;
                recheck_ = recheck_ * 2 < tuning_.longest_backoff_blocks ? recheck_ * 2 : tuning_.longest_backoff_blocks;
                begin_round(true);
            }
        }
    }
    if (tuning_.method == Method::comparison && phase_ != Phase::comparing && begin_comparison()) phase_ = Phase::comparing;
    switch (phase_) {
        case Phase::probing: return next_pair();
        case Phase::engaged:
            if (refining_ || begin_refining()) return next_pair();
            if (engagement_.wants_off()) return run(Role::holdout, engaged_control_, trial_limit, block);
            return run(Role::engaged, engagement_.setting(), engagement_.trial(), block);
        case Phase::fixed: return run(Role::fixed, account_.engaged, 0, block);
        case Phase::comparing: return run(Role::compared, comparison_.setting(), comparison_.trial(), block);
        default: return run(Role::off, Setting(), trial_limit, block);
    }
}

bool Law::begin_comparison() {
    bool learns = false;
    for (std::uint32_t i = 0; i < tuning_.compared_count; ++i) learns = learns || tuning_.compared[i].ours;
    if (phase_ == Phase::baseline || role_ == Role::first) return false;  // the pair's second half may be under way
    const bool found = phase_ == Phase::engaged;
    const double learnt = static_cast<double>(account_.iterations) / tuning_.learn_iterations;
    if (learns && (found ? !settled_ && learnt < 2 : phase_ != Phase::over && rests_ < 2 && learnt < 1)) return false;
    if (account_.state == Ended::fault) return false;
    comparison_.begin(tuning_, facts_, off_, found ? engagement_.setting() : Setting(), account_.state, account_, random_);
    for (std::uint32_t i = 0; i < trial_limit; ++i) held_ns_[i] = held_iterations_[i] = 0;
    return true;
}

void Law::end(Ended why) {
    for (std::uint32_t i = 0; i < account_.count; ++i) {
        Trial& trial = account_.trials[i];
        if (trial.ended != Ended::running) continue;
        trial.ended = why;
        trial.decided_iteration = account_.iterations;
    }
    account_.state = why;
    account_.engaged = {};
    phase_ = Phase::over;
    run(Role::off, Setting(), trial_limit, tuning_.block_iterations);
}

// What was engaged was so until now.
void Law::let_go(Ended why) {
    for (std::uint32_t i = 0; i < account_.count; ++i) {
        if (account_.trials[i].ended == Ended::engaged && account_.trials[i].setting == account_.engaged) account_.trials[i].ended = Ended::running;
    }
    end(why);
}

void Law::surroundings(bool tcp, bool pays_for_waiting, std::uint64_t socket_bytes) {
    facts_.tcp = tcp;
    facts_.pays_for_waiting = pays_for_waiting;
    facts_.socket_bytes = socket_bytes;
}

void Law::fault() {
    if (!is_over()) let_go(Ended::fault);  // what has ended before has ended for its own reason
}

void Law::move_on() {
    if (!is_over()) let_go(Ended::moved_on);
}

void Law::resume() {
    engagement_.interrupted();
    ++account_.resumed;
}

void Law::finish() {
    if (phase_ == Phase::probing) {
        for (std::uint32_t i = 0; i < probe_.count(); ++i) write_probe(account_.trials[probe_.candidate(i).trial], probe_.candidate(i).test);
    }
    for (std::uint32_t i = 0; i < account_.count; ++i) {
        if (account_.trials[i].ended != Ended::running) continue;
        account_.trials[i].ended = Ended::finished;
        account_.trials[i].decided_iteration = account_.iterations;
    }
    if (account_.state == Ended::running) account_.state = Ended::finished;
}

}  // namespace paced::pacing
