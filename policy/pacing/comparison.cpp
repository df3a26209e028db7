// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/comparison.h"

#include "policy/pacing/arms.h"

namespace paced::pacing {

void Comparison::begin(const Tuning& tuning, const Facts& facts, const OffWindow& off, const Setting& ours, Ended why, Account& account, Random& random) {
    *this = Comparison();
    account.count = 0;
    for (std::uint32_t i = 0; i < tuning.compared_count && i < compared_limit; ++i) {
        const Compared& arm = tuning.compared[i];
        setting_[i] = arm.ours ? ours : with_cap(arm.setting, facts, off, tuning);
        if (!arm.ours && arm.setting.arm == Arm::off && off_ == compared_limit) off_ = i;
        Trial& trial = account.trials[account.count++];
        trial = Trial();
        trial.setting = setting_[i];
        trial.ours = arm.ours;
        trial.ended = arm.ours ? why : Ended::running;
        trial.first_iteration = arm.ours ? 0 : account.iterations;
        trial.decided_iteration = account.iterations;
        trial.engaged_iteration = arm.ours && why == Ended::engaged ? account.iterations : 0;
        ++count_;
    }
    shuffle(random);
}

void Comparison::shuffle(Random& random) {
    for (std::uint32_t i = 0; i < count_; ++i) order_[i] = i;
    for (std::uint32_t i = count_; i > 1; --i) {
        const std::uint32_t j = random.below(i), last = order_[i - 1];
        order_[i - 1] = order_[j];
        order_[j] = last;
    }
    position_ = 0;
    ++round_;
}

void Comparison::block(const Observation& block, Account& account, Random& random) {
    const std::uint32_t arm = order_[position_];
    moments_[arm].add(block.iterations, block.mean_ns, block.cv);
    round_ns_[arm] = block.mean_ns;
    Trial& trial = account.trials[arm];
    trial.mean_ms = moments_[arm].mean() / 1e6;
    trial.cv = moments_[arm].cv();
    if (++position_ < count_) return;
    for (std::uint32_t i = 0; i < count_ && off_ < count_; ++i) {
        Trial& each = account.trials[i];
        each.off_mean_ms = account.trials[off_].mean_ms;
        each.off_cv = account.trials[off_].cv;
        ++each.pairs;
        if (i == off_) continue;
        ratio_[i].add(round_ns_[off_], round_ns_[i]);
        ratio_[i].percent(each.gain, each.gain_low, each.gain_high);
        each.holdout_blocks = each.pairs;
    }
    shuffle(random);
}

}  // namespace paced::pacing
