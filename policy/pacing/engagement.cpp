// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/engagement.h"

#include <cmath>

namespace paced::pacing {
namespace {

constexpr std::uint32_t at_full_rate = 10;   // holdouts before their part begins to fall, as 1/n
constexpr double surely = 3.0;               // log 20: that the gain has gone
constexpr std::uint32_t most_losing = 6;     // holdouts in a row: one in 64 without effect
constexpr std::uint32_t most_late = 3;       // blocks in a row

}  // namespace

void Engagement::begin(const Setting& setting, std::uint32_t trial, double scale, const Tuning& tuning, Random& random) {
    *this = Engagement();
    setting_ = setting;
    trial_ = trial;
    test_.clear(scale, {PairTest::Side::below, std::log1p(tuning.disengage_percent / 100)});
    new_cycle(tuning, random);
}

void Engagement::new_cycle(const Tuning& tuning, Random& random) {
    const double past = holdouts_ > at_full_rate ? static_cast<double>(holdouts_) / at_full_rate : 1;
    double percent = tuning.holdout_percent / past;
    if (percent < tuning.holdout_floor_percent) percent = tuning.holdout_floor_percent;
    length_ = static_cast<std::uint32_t>(100 / percent + 0.5);
    if (length_ < 2) length_ = 2;
    position_ = 0;
    off_at_ = 1 + random.below(length_ - 1);  // never the first, so that there is an engaged one on either side
}

Ended Engagement::engaged_block(const Observation& block, const OffWindow& off, const Tuning& tuning, Random& random) {
    engaged_.add(block.iterations, block.mean_ns, block.cv);
    ++blocks_;
    retransmissions_ += block.retransmissions;
    if (block.service_ns > 0 && !(least_service_ns_ > 0 && least_service_ns_ <= block.service_ns)) least_service_ns_ = block.service_ns;
    if (holdout_open_) {
        holdout_open_ = false;
        const bool after = random.coin() || !(before_ns_ > 0);
        const double difference = off_log_ - (after ? block.log_mean : before_log_);
        test_.add(difference);
        ratio_.add(off_ns_, before_ns_ > 0 ? (before_ns_ + block.mean_ns) / 2 : block.mean_ns);
        ++holdouts_;
        losing_ = difference < 0 ? losing_ + 1 : 0;
    }
    late_ = block.timeouts > block.held * tuning.timeouts_percent / 100 ? late_ + 1 : 0;
    if (off.is_severe(block, tuning)) {
        severe_log_ = severe_ == 0 || block.log_mean < severe_log_ ? block.log_mean : severe_log_;
        if (++severe_ == 2) checking_ = true;
    } else {
        severe_ = 0;
    }
    before_ns_ = block.mean_ns;
    before_log_ = block.log_mean;
    if (++position_ >= length_) new_cycle(tuning, random);
    return verdict();
}

Ended Engagement::off_block(const Observation& block, const Tuning& tuning) {
    off_.add(block.iterations, block.mean_ns, block.cv);
    if (checking_) {
        // OFF because the last blocks were bad: what it shows is no sample, it only answers whether OFF has become as bad.
        checking_ = false;
        severe_ = 0;
        interrupted();
        return block.log_mean < severe_log_ - std::log1p(tuning.severe_percent / 100) ? Ended::loses : Ended::running;
    }
    holdout_open_ = true;
    off_ns_ = block.mean_ns;
    off_log_ = block.log_mean;
    ++position_;
    return Ended::running;
}

Ended Engagement::verdict() const {
    if (late_ >= most_late) return Ended::loses;
    if (losing_ >= most_losing) return Ended::loses;
    if (test_.log_wealth() >= surely) return test_.mean() < 0 ? Ended::loses : Ended::no_gain;
    return Ended::running;
}

void Engagement::write(Trial& trial) const {
    ratio_.percent(trial.gain, trial.gain_low, trial.gain_high);
    trial.holdout_blocks = holdouts_;
    trial.mean_ms = engaged_.mean() / 1e6;
    trial.cv = engaged_.cv();
    trial.off_mean_ms = off_.mean() / 1e6;
    trial.off_cv = off_.cv();
}

}  // namespace paced::pacing
