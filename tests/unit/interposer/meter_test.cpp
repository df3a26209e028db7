// SPDX-License-Identifier: BSD-3-Clause
// A block as one rank measures it, against sums over the same calls.
#include "plugin/interposer/pacing/meter.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace paced::interposer {
namespace {

using pacing::Directive;

Directive directive(std::uint64_t from, std::uint32_t period, std::uint32_t skip, std::uint32_t length) {
    Directive made;
    made.epoch = 5;
    made.from_sequence = from;
    made.period = period;
    made.skip = skip;
    made.length = length;
    return made;
}

std::vector<MeteredCall> some_calls(std::uint64_t from, int count) {
    std::mt19937_64 random(11);
    std::vector<MeteredCall> calls;
    std::uint64_t time = 1'000'000;
    for (int i = 0; i < count; ++i) {
        MeteredCall call{};
        call.sequence = from + static_cast<std::uint64_t>(i);
        call.synchronizing = i % 5 != 3;
        call.arrival_ns = time += random() % 10'000;
        call.held_ns = random() % 2 == 0 ? random() % 1000 : 0;
        call.entry_ns = time += call.held_ns;
        call.completion_ns = time += random() % 10'000;
        call.timed_out = call.held_ns > 900;
        calls.push_back(call);
    }
    return calls;
}

TEST(Meter, SumsAreThoseOfTheCallsBetweenWashoutAndEnd) {
    const auto calls = some_calls(100, 60);
    Meter meter;
    meter.begin(directive(100, 4, 2, 10), 100, 1);
    int end = -1;
    for (int i = 0; i < 60 && end < 0; ++i)
        if (meter.add(calls[static_cast<std::size_t>(i)])) end = i;
    ASSERT_EQ(end, 4 * 12 - 1);
    const pacing::RankBlock& block = meter.close();
    std::uint64_t wait = 0, shortest = ~std::uint64_t{0}, longest = 0, service = 0, held_ns = 0;
    std::uint32_t count = 0, held = 0, timeouts = 0;
    for (std::size_t i = 8; i < 48; ++i) {
        const MeteredCall& call = calls[i];
        if (!call.synchronizing) continue;
        ++count;
        wait += call.completion_ns - call.arrival_ns;
        shortest = std::min(shortest, call.completion_ns - call.arrival_ns);
        longest = std::max(longest, call.completion_ns - call.arrival_ns);
        service += call.completion_ns - call.entry_ns;
        held_ns += call.held_ns;
        held += call.held_ns > 0;
        timeouts += call.timed_out;
    }
    EXPECT_EQ(block.epoch, 5u);
    EXPECT_EQ(block.late, 0u);
    EXPECT_EQ(block.calls, count);
    EXPECT_EQ(block.wait_ns, wait);
    EXPECT_EQ(block.shortest_wait_ns, shortest);
    EXPECT_EQ(block.longest_wait_ns, longest);
    EXPECT_EQ(block.service_ns, service);
    EXPECT_EQ(block.held_ns, held_ns);
    EXPECT_EQ(block.held, held);
    EXPECT_EQ(block.timeouts, timeouts);
    std::uint64_t sum = 0, most = 0;
    double squares = 0;
    for (std::size_t k = 0; k < 10; ++k) {
        const std::uint64_t took = calls[8 + 4 * k + 3].completion_ns - calls[8 + 4 * k - 1].completion_ns;
        sum += took;
        most = std::max(most, took);
        squares += static_cast<double>(took) * static_cast<double>(took);
    }
    EXPECT_EQ(block.iterations, 10u);
    EXPECT_EQ(block.iterations_ns, sum);
    EXPECT_EQ(block.longest_ns, most);
    EXPECT_DOUBLE_EQ(block.iterations_ns2, squares);
    EXPECT_FALSE(meter.is_open());
}

TEST(Meter, TheFirstIterationNeedsTheCompletionBeforeIt) {
    const auto calls = some_calls(0, 12);
    for (const std::uint64_t before : {std::uint64_t{0}, std::uint64_t{500'000}}) {
        Meter meter;
        meter.begin(directive(0, 4, 0, 3), 0, before);
        for (const auto& call : calls) meter.add(call);
        const auto& block = meter.close();
        EXPECT_EQ(block.iterations, before == 0 ? 2u : 3u);
        EXPECT_EQ(block.iterations_ns, calls[11].completion_ns - (before == 0 ? calls[3].completion_ns : before));
    }
}

TEST(Meter, CallsWithoutAClockAreStepsAlone) {
    auto calls = some_calls(0, 12);
    calls[5].completion_ns = calls[7].completion_ns = 0;  // 7 ends an iteration
    Meter meter;
    meter.begin(directive(0, 4, 0, 3), 0, 500'000);
    for (const auto& call : calls) meter.add(call);
    const auto& block = meter.close();
    EXPECT_EQ(block.iterations, 1u);
    EXPECT_EQ(block.iterations_ns, calls[3].completion_ns - 500'000);
}

TEST(Meter, CutShortOrLateIsVoid) {
    const auto calls = some_calls(0, 12);
    Meter cut;
    cut.begin(directive(0, 4, 0, 4), 0, 1);
    for (const auto& call : calls) EXPECT_FALSE(cut.add(call));
    EXPECT_EQ(cut.close().late, 1u);
    Meter late;
    late.begin(directive(0, 4, 0, 3), 1, 1);
    for (std::size_t i = 1; i < calls.size(); ++i) late.add(calls[i]);
    EXPECT_EQ(late.close().late, 1u);
    Meter gap;
    gap.begin(directive(0, 4, 0, 3), 0, 1);
    for (std::size_t i = 0; i < calls.size(); ++i)
        if (i != 6) gap.add(calls[i]);
    EXPECT_EQ(gap.close().late, 1u);
    Meter open_ended;
    open_ended.begin(directive(0, 4, 0, 0), 0, 1);
    for (const auto& call : calls) EXPECT_FALSE(open_ended.add(call));
    EXPECT_EQ(open_ended.close().late, 0u);
}

TEST(Meter, WithoutAPeriodCallsAreMeasuredAlone) {
    const auto calls = some_calls(0, 10);
    Meter meter;
    meter.begin(directive(0, 0, 3, 4), 0, 1);
    for (const auto& call : calls) EXPECT_FALSE(meter.add(call));
    const auto& block = meter.close();
    EXPECT_EQ(block.iterations, 0u);
    EXPECT_EQ(block.calls, 8u);
}

TEST(Meter, NothingMeasuredHasNoShortestWait) {
    Meter meter;
    meter.begin(directive(0, 4, 0, 0), 0, 1);
    EXPECT_EQ(meter.close().shortest_wait_ns, 0u);
}

}  // namespace
}  // namespace paced::interposer
