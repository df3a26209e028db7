// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/iterations.h"

#include <gtest/gtest.h>

#include "tests/unit/report/synthetic.h"

namespace paced::report {
namespace {

// Letters are kinds of collectives, a bar compute of 10 ms, a full stop 1 ms; each collective takes 1 ms, and 1 us
// lies between two of them. A tilde: something was left out here.
std::vector<Event> events_of(const std::string& score) {
    std::vector<Event> events;
    std::uint64_t now = 1'000'000'000;
    bool follows = true;
    for (char c : score) {
        if (c == '|') now += 10'000'000;
        else if (c == '.') now += 1'000'000;
        else if (c == '~') follows = false;
        else if (c != ' ') {
            now += 1'000;
            events.push_back({static_cast<std::uint64_t>(c), now, now + 1'000'000, follows});
            now += 1'000'000;
            follows = true;
        }
    }
    return events;
}

std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

struct Case {
    const char* name;
    std::string score;
    std::size_t count;
    int collectives;
    double mean_ms;
};

TEST(Iterations, AreFoundInTheSequence) {
    const std::vector<Case> cases{
        {"one collective each", repeated("|a", 20), 19, 1, 11.001},
        {"several kinds", repeated("|abc", 20), 19, 3, 13.003},
        {"equal buckets, told apart by the compute", repeated("|aaaa", 20), 19, 4, 14.004},
        {"equal buckets and the loss", repeated("|aaab", 20), 19, 4, 14.004},
        {"thirty buckets and the loss", repeated("|" + std::string(30, 'a') + "b", 20), 19, 31, 41.031},
        {"a log line every thirty iterations", repeated(repeated("|a", 30) + "l", 5), 145, 1, 11.001},
        {"compute in the middle", repeated("a|bc", 20), 19, 3, 13.003},
        {"warm-up and epilogue of other shapes", "xyzzyx" + repeated("|abc", 20) + "ppqr", 19, 3, 13.003},
        {"more around than inside", "hgfedhgxyzkl" + repeated("|a", 30) + "mnopqrst", 29, 1, 11.001},
        {"an evaluation now and then", repeated(repeated("|abcd", 25) + "e", 4), 96, 4, 14.004},
        {"kept in blocks", repeated("|ab", 20) + "~" + repeated("|ab", 20), 38, 2, 12.002},
    };
    for (const Case& one : cases) {
        const Iterations found = find_iterations(events_of(one.score));
        EXPECT_EQ(found.count, one.count) << one.name;
        EXPECT_EQ(found.collectives, one.collectives) << one.name;
        EXPECT_NEAR(found.mean_ms, one.mean_ms, 1e-6) << one.name;
        EXPECT_EQ(found.remark, "") << one.name;
    }
}

TEST(Iterations, NoneIsSaidToBeNone) {
    EXPECT_EQ(find_iterations({}).remark, "no collectives were recorded");
    EXPECT_EQ(find_iterations(events_of("a|b|c|d|e|f|g|h|i|j|k|l")).remark, "the sequence of collectives does not repeat itself");
    EXPECT_EQ(find_iterations(events_of("aab")).remark, "the sequence of collectives does not repeat itself");
    EXPECT_EQ(find_iterations(events_of("aab")).count, 0u);
}

TEST(Iterations, ASlowStartIsLeftOutAndSaid) {
    const Iterations found = find_iterations(events_of("|a" + repeated("|", 50) + "a" + repeated("|a", 20)));
    EXPECT_EQ(found.startup, 1u);
    EXPECT_NEAR(found.startup_ms, 501.001, 1e-6);
    EXPECT_EQ(found.count, 20u);
    EXPECT_NEAR(found.mean_ms, 11.001, 1e-6);
    EXPECT_NEAR(found.cv, 0, 1e-9);
}

TEST(Iterations, ASlowOneLaterBelongsToTheFigures) {
    const Iterations found = find_iterations(events_of(repeated("|a", 20) + repeated("|", 10) + repeated("|a", 20)));
    EXPECT_EQ(found.startup, 0u);
    EXPECT_EQ(found.count, 39u);
    EXPECT_NEAR(found.mean_ms, 11.001 + 100.0 / 39, 1e-6);
}

// The rank's own reckoning, before compute to after the last bucket, is what a workload prints.
TEST(Iterations, AgreeWithTheProgramsOwnFigures) {
    for (int buckets : {1, 2, 4, 7}) {
        testing::Program program;
        program.buckets = buckets;
        program.straggler = 3;
        program.straggler_ms = 15;
        program.jitter = .2;
        program.leave_us = 300;
        program.seed = static_cast<std::uint64_t>(buckets);
        const testing::Played played = testing::play(program);
        std::vector<Event> events;
        for (const CollectiveRecord& record : played.trace.nodes[0].ranks[0].communicators[0].records)
            events.push_back({record.bytes, record.arrival_ns, record.completion_ns, true});
        const Iterations found = find_iterations(events);
        EXPECT_EQ(found.collectives, buckets);
        const std::vector<double> own(played.iteration_ms.begin() + 1, played.iteration_ms.end());
        EXPECT_NEAR(found.mean_ms / mean_of(own), 1, .001);
        EXPECT_NEAR(found.cv, coefficient_of_variation(own), .002);
    }
}

}  // namespace
}  // namespace paced::report
