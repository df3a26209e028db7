// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/pacing/meter.h"

namespace paced::interposer {
namespace {

constexpr std::uint64_t none = ~std::uint64_t{0};

void raise(std::uint64_t& most, std::uint64_t value) {
    if (value > most) most = value;
}

}  // namespace

void Meter::begin(const pacing::Directive& directive, bool late, std::uint64_t previous_completion_ns) {
    block_ = {};
    block_.epoch = directive.epoch;
    block_.late = late ? 1 : 0;
    block_.shortest_wait_ns = none;
    period_ = directive.period;
    first_ = directive.from_sequence + std::uint64_t{directive.skip} * period_;
    end_ = directive.length != 0 && period_ != 0 ? first_ + std::uint64_t{directive.length} * period_ : none;
    boundary_ns_ = directive.skip == 0 && !late ? previous_completion_ns : 0;
    steps_ = 0;
    open_ = true;
    complete_ = end_ == none;
}

bool Meter::add(const MeteredCall& call) {
    if (!open_) return false;
    if (call.sequence < first_) {
        boundary_ns_ = call.completion_ns;
        return false;
    }
    if (call.synchronizing && call.completion_ns != 0) {
        const std::uint64_t wait = call.completion_ns - call.arrival_ns, service = call.completion_ns - call.entry_ns;
        ++block_.calls;
        block_.wait_ns += wait;
        if (wait < block_.shortest_wait_ns) block_.shortest_wait_ns = wait;
        raise(block_.longest_wait_ns, wait);
        block_.service_ns += service;
        raise(block_.longest_service_ns, service);
        block_.held_ns += call.held_ns;
        block_.held += call.held_ns != 0 ? 1 : 0;
        block_.timeouts += call.timed_out ? 1 : 0;
    }
    if (period_ != 0 && ++steps_ == period_) {
        if (boundary_ns_ != 0 && call.completion_ns != 0) {
            const std::uint64_t took = call.completion_ns - boundary_ns_;
            ++block_.iterations;
            block_.iterations_ns += took;
            block_.iterations_ns2 += static_cast<double>(took) * static_cast<double>(took);
            raise(block_.longest_ns, took);
        }
        boundary_ns_ = call.completion_ns;
        steps_ = 0;
    }
    complete_ = complete_ || call.sequence + 1 >= end_;
    return call.sequence + 1 >= end_;
}

const pacing::RankBlock& Meter::close() {
    open_ = false;
    if (!complete_) block_.late = 1;
    if (block_.calls == 0) block_.shortest_wait_ns = 0;
    return block_;
}

}  // namespace paced::interposer
