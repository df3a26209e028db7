// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/pacing/meter.h"

namespace paced::interposer {
namespace {

constexpr std::uint64_t none = ~std::uint64_t{0};

}  // namespace

void Meter::begin(const pacing::Directive& directive, std::uint64_t sequence, std::uint64_t previous_completion_ns) {
    const bool late = sequence > directive.from_sequence;
    block_ = {};
    block_.epoch = directive.epoch;
    block_.late = late ? 1 : 0;
    block_.shortest_wait_ns = none;
    period_ = directive.period;
    first_ = directive.from_sequence + std::uint64_t{directive.skip} * period_;
    end_ = directive.length != 0 && period_ != 0 ? first_ + std::uint64_t{directive.length} * period_ : none;
    boundary_ns_ = directive.skip == 0 && !late ? previous_completion_ns : 0;
    steps_ = 0;
    next_ = sequence;
    open_ = true;
    complete_ = end_ == none;
}

const pacing::RankBlock& Meter::close() {
    open_ = false;
    if (!complete_) block_.late = 1;
    if (block_.calls == 0) block_.shortest_wait_ns = 0;
    return block_;
}

}  // namespace paced::interposer
