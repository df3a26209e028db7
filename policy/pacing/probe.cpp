// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/probe.h"

#include <cmath>

#include "policy/pacing/arms.h"

namespace paced::pacing {
namespace {

constexpr std::uint32_t first_pairs = 2;    // of each setting, before they compete; all get their first, a short one, before one gets its second
constexpr double least_degrees = 2;         // of freedom, before anything is said of what scatters less
constexpr double surely = 2.3;              // log 10: to give a setting up needs less proof than to engage one
constexpr std::uint32_t least_behind = 3;   // pairs, before a setting that is behind by more than its standard error is left
constexpr double few_resent = 0.1, many_resent = 0.5;  // of what is sent again without the setting
constexpr double losing_deviations = 1;     // a pair that lost more than this, twice in a row, is no noise

}  // namespace

void Probe::begin(Arm arm, double scale, double stake, double wealth, const Tuning& tuning) {
    arm_ = arm;
    count_ = places_ = 0;
    scale_ = scale;
    worth_ = std::log1p(tuning.disengage_percent / 100);
    all_.clear(scale, {PairTest::Side::above, 0});
    resent_ = Resent();
    stake_ = stake;
    kept_ = wealth;
}

void Probe::add_candidate(const Setting& setting, std::uint32_t slot, std::uint32_t trial) {
    if (count_ == candidate_limit) return;
    Candidate& made = candidates_[count_++];
    made = Candidate();
    made.setting = setting;
    made.slot = slot;
    made.trial = trial;
    made.gain.clear(scale_, {PairTest::Side::above, 0});
    made.test.clear(scale_, {PairTest::Side::below, worth_});
    if (places_ < count_) places_ = count_;
}

void Probe::reserve(std::uint32_t candidates) { places_ = count_ + candidates < candidate_limit ? count_ + candidates : candidate_limit; }

// Settings are compared with each other by what scatters less within them: their differences to OFF, where all drifts together, or their own
// blocks, where OFF is what is noisy (time-outs).
Probe::Ranking Probe::ranking() const {
    double blocks = scale_ * scale_ / 2, pairs = scale_ * scale_, degrees = 0;  // what was expected, as one of each
    for (std::uint32_t i = 0; i < count_; ++i) {
        const Candidate& candidate = candidates_[i];
        blocks += candidate.blocks_log.squares;
        pairs += candidate.pairs_log.squares;
        degrees += candidate.test.count() > 0 ? candidate.test.count() - 1 : 0;
    }
    const bool by_blocks = degrees >= least_degrees && blocks < pairs;
    return {by_blocks, std::sqrt((by_blocks ? blocks : pairs) / (degrees + 1))};
}

// What is sent again says at once which setting takes the overload away, where times of blocks need many pairs.
bool Probe::relieves(const Candidate& candidate) const {
    return candidate.out == Ended::running && candidate.test.count() > 0 && candidate.resent.of_iteration() <= few_resent * resent_.of_iteration();
}

bool Probe::relieved() const {
    for (std::uint32_t i = 0; i < count_; ++i)
        if (resent_.of_iteration() >= 1 && candidates_[i].test.count() >= first_pairs && candidates_[i].resent.of_iteration() <= few_resent * resent_.of_iteration()) return true;
    return false;
}

bool Probe::is_idle(const Candidate& candidate, bool another_relieves) const {
    return another_relieves && candidate.test.count() > 0 && candidate.resent.of_iteration() >= many_resent * resent_.of_iteration();
}

// Whichever is chosen, and by what of the past, the test of the pair to come stays valid.
std::uint32_t Probe::choose(std::uint32_t running) const {
    const Ranking ranked = ranking();
    const auto pairs_of = [&](std::uint32_t i) { return candidates_[i].test.count() + (i == running ? 1u : 0u); };
    const double all = all_.count() + (running < count_ ? 1.0 : 0.0);
    std::uint32_t chosen = 0;
    double most = -1e300;
    bool one_relieves = false;
    for (std::uint32_t i = 0; i < count_; ++i) {
        if (candidates_[i].out == Ended::running && pairs_of(i) == 0) return i;
        one_relieves = one_relieves || (resent_.of_iteration() >= 1 && relieves(candidates_[i]));
    }
    for (std::uint32_t i = 0; i < count_; ++i) {
        const Candidate& candidate = candidates_[i];
        if (candidate.out != Ended::running || is_idle(candidate, one_relieves)) continue;
        if (pairs_of(i) < first_pairs) return i;
        const double bound = ranked.value(candidate) + ranked.deviation * std::sqrt(std::log(all + 1) / pairs_of(i));
        if (bound > most) {
            most = bound;
            chosen = i;
        }
    }
    return chosen;
}

void Probe::add(std::uint32_t index, const Observation& setting, const Observation& control, bool severe, const Tuning& tuning) {
    Candidate& candidate = candidates_[index];
    const double difference = control.log_mean - setting.log_mean;
    const double noise = losing_deviations * candidate.test.deviation(), margin = std::log1p(tuning.severe_percent / 100) / 2;
    candidate.losing = difference < -(noise > margin ? noise : margin) ? candidate.losing + 1 : 0;
    candidate.test.add(difference);
    candidate.gain.add(difference);
    candidate.ratio.add(control.mean_ns, setting.mean_ns);
    candidate.blocks.add(setting.iterations, setting.mean_ns, setting.cv);
    candidate.control.add(control.iterations, control.mean_ns, control.cv);
    candidate.resent.add(setting);
    candidate.blocks_log.add(setting.log_mean);
    candidate.pairs_log.add(difference);
    if (setting.service_ns > 0 && !(candidate.least_service_ns > 0 && candidate.least_service_ns <= setting.service_ns)) candidate.least_service_ns = setting.service_ns;
    resent_.add(control);
    all_.add(difference);
    const bool ahead = candidate.test.mean() > 0;
    if (severe || candidate.losing >= 2) {
        candidate.out = Ended::loses;
    } else if (candidate.test.log_wealth() >= surely) {
        candidate.out = ahead ? Ended::no_gain : Ended::loses;
    } else {
        const double pairs = candidate.test.count(), error = candidate.test.deviation() / std::sqrt(pairs);
        const bool behind = pairs >= least_behind && candidate.test.mean() < -error;
        if (behind || (pairs >= tuning.futile_pairs && !ahead)) candidate.out = Ended::no_gain;
    }
}

void Probe::write(std::uint32_t index, Trial& trial) const {
    const Candidate& candidate = candidates_[index];
    trial.mean_ms = candidate.blocks.mean() / 1e6;
    trial.cv = candidate.blocks.cv();
    trial.off_mean_ms = candidate.control.mean() / 1e6;
    trial.off_cv = candidate.control.cv();
}

std::uint32_t Probe::best() const {
    const Ranking ranked = ranking();
    std::uint32_t best = 0;
    double most = -1e300;
    for (std::uint32_t i = 0; i < count_; ++i) {
        const Candidate& candidate = candidates_[i];
        // one that is still in comes before all that are out, and a single pair of luck behind those that have shown theirs
        const double value = ranked.value(candidate) - (candidate.out == Ended::running ? 0 : 1e6) - (candidate.test.count() < first_pairs ? 1e3 : 0);
        if (value > most) {
            most = value;
            best = i;
        }
    }
    return best;
}

std::uint32_t Probe::gentlest(double part_of_gain) const {
    const std::uint32_t ahead = best();
    double iterations = 0, off = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
        iterations += candidates_[i].control.iterations();
        off += candidates_[i].control.iterations() * candidates_[i].control.mean();
    }
    const double mean = candidates_[ahead].blocks.mean(), gain = iterations > 0 ? off / iterations - mean : 0;
    std::uint32_t chosen = ahead;
    for (std::uint32_t i = 0; i < count_ && gain > 0; ++i) {
        const Candidate& candidate = candidates_[i];
        if (candidate.out != Ended::running || candidate.test.count() < first_pairs || !is_as_bold(candidates_[chosen].setting, candidate.setting)) continue;
        if (candidate.blocks.mean() <= mean + part_of_gain * gain) chosen = i;
    }
    return chosen;
}

double Probe::wealth() const {
    const auto of = [](const PairTest& test) {
        const double log = test.log_wealth();
        return std::exp(log < 600 ? log : 600);
    };
    if (count_ == 0) return kept_;
    double own = static_cast<double>(places_ - count_) / places_;
    for (std::uint32_t i = 0; i < count_; ++i) own += of(candidates_[i].gain) / places_;
    return kept_ + stake_ * (of(all_) + own) / 2;
}

Ended Probe::verdict(const Tuning& tuning) const {
    std::uint32_t in = 0;
    for (std::uint32_t i = 0; i < count_; ++i) in += candidates_[i].out == Ended::running;
    const Candidate& front = candidates_[best()];
    if (in == 0) return count_ > 0 ? front.out : Ended::not_applicable;
    if (all_.count() >= tuning.least_pairs && front.test.count() * 2 >= tuning.least_pairs && wealth() >= 1) {
        // The setting itself must be ahead, also in what throughput is made of.
        double gain = 0, low = 0, high = 0;
        front.ratio.percent(gain, low, high);
        if (front.test.mean() > 0 && gain > tuning.disengage_percent) return Ended::engaged;
    }
    if (all_.count() >= tuning.most_pairs) return Ended::no_verdict;
    return Ended::running;
}

}  // namespace paced::pacing
