// SPDX-License-Identifier: BSD-3-Clause
// Jobs that are paced by force: every communicator under random settings, or under one, from outside. Their results and their ends are
// those that they have without us, and no call is held beyond its cap.
//
// The soak is short here. By hand, with a million calls:
//     PACED_FABRIC_SOAK_CALLS=1000000 build/release/tests/test_mpi_pacing --gtest_filter='*Soak*openmpi'
#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/mpi/fake_agent.h"
#include "tests/mpi/job.h"

namespace paced::test {
namespace {

using pacing::Arm;

constexpr std::uint64_t us = 1000, ms = 1'000'000;
constexpr std::uint64_t soak_cap_ns = 200 * us;
constexpr std::uint64_t tolerance = 500 * ms;  // what a busy machine may add to a delay

std::string lines_of_ranks(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        if (line.starts_with("rank ")) lines.push_back(line);  // a launcher's own words name processes
    std::ranges::sort(lines);
    std::string joined;
    for (const auto& line : lines) joined += line + "\n";
    return joined;
}

FakeAgent::Decide at_random(unsigned seed) {
    return [random = std::mt19937(seed)](const pacing::PacedCommunicator& entry, std::uint64_t calls, pacing::Directive& directive) mutable {
        // As a conductor: a block has begun before the next is decided on. But not always.
        if (random() % 4 != 0 || (entry.next.epoch != 0 && calls < entry.next.from_sequence + 10 && random() % 64 != 0)) return false;
        directive.from_sequence = calls + random() % 60 - (calls > 20 && random() % 4 == 0 ? 20 : 0);
        directive.period = static_cast<std::uint32_t>(random() % 5);
        directive.skip = static_cast<std::uint32_t>(random() % 2);
        directive.length = static_cast<std::uint32_t>(random() % 8);
        directive.position = static_cast<std::uint32_t>(random() % 4);
        directive.setting.arm = static_cast<Arm>(random() % pacing::arm_count);
        directive.setting.width = 1;
        directive.setting.cap_ns = random() % (soak_cap_ns + 1);
        directive.setting.delay_ns = random() % (2 * soak_cap_ns);
        directive.setting.threshold_ns = random() % (50 * us);
        directive.setting.service_ns = random() % (50 * us);
        directive.setting.rate_bytes_s = 1'000'000;
        return true;
    };
}

// One setting for all communicators, from their tenth call on.
FakeAgent::Decide always(Arm arm, std::uint64_t delay_ns, std::uint64_t cap_ns) {
    return [=](const pacing::PacedCommunicator& entry, std::uint64_t calls, pacing::Directive& directive) {
        if (entry.next.epoch != 0 || calls < 5) return false;
        directive.from_sequence = calls + 5;
        directive.period = 1;
        directive.setting.arm = arm;
        directive.setting.delay_ns = delay_ns;
        directive.setting.cap_ns = cap_ns;
        return true;
    };
}

class Pacing : public testing::TestWithParam<Mpi> {
protected:
    void SetUp() override {
        if (!is_installed(GetParam())) GTEST_SKIP() << name_of(GetParam()) << " is not installed";
    }
    // No agent of the interposer's own, which would decide otherwise: another node leads, and none is named.
    static void force(Job& job) {
        job.set("TEST_MODE", "pace");
        job.set("TEST_NODE_COUNT", "2");
    }
};

std::uint64_t longest_hold(const report::Trace& trace, std::uint64_t& held) {
    std::uint64_t longest = 0;
    for (const auto& rank : ranks_of(trace))
        for (const auto& communicator : rank.communicators)
            for (const auto& record : communicator.records) {
                longest = std::max(longest, record.held_ns);
                held += record.held_ns > 0 ? 1 : 0;
                EXPECT_TRUE(record.held_ns == 0 || report::is_synchronizing(record.operation));
                EXPECT_TRUE(record.completion_ns == 0 || record.completion_ns - record.arrival_ns + 100 >= record.held_ns);
            }
    return longest;
}

TEST_P(Pacing, Soak) {
    const char* const wanted = std::getenv("PACED_FABRIC_SOAK_CALLS");
    // MPICH's ranks spin: four of them on two cores are minutes, with us and without.
    const bool yields = GetParam() == Mpi::open_mpi;
    const std::string calls = wanted != nullptr ? wanted : yields ? "4000" : "3000";
    Job job(GetParam(), yields ? 4 : 2);
    force(job);
    FakeAgent agent(job.folder(), at_random(1));
    const Outcome with = job.run("pacing", {"soak", calls, "7"});
    agent.stop();
    EXPECT_EQ(with.exit_code, 0) << with.err;
    EXPECT_EQ(with.err, "");
    EXPECT_EQ(lines_of_ranks(with.out), lines_of_ranks(job.run_without("pacing", {"soak", calls, "7"}).out));
    EXPECT_NE(with.out.find("slack 77777"), std::string::npos);
    const auto trace = job.trace();
    std::uint64_t held = 0;
    const std::uint64_t longest = longest_hold(trace, held);
    EXPECT_LT(longest, soak_cap_ns + tolerance);
    // it was put to the test
    EXPECT_GT(agent.directives(), 20u);
    EXPECT_GT(agent.blocks(), 10u);
    EXPECT_GT(agent.late(), 0u);
    EXPECT_LT(agent.late(), agent.blocks());
    EXPECT_GT(held, 100u);
    RecordProperty("held", static_cast<int>(held));
    std::printf("%.1f s, %llu directives, %llu blocks (%llu late), %llu of the kept records held, longest %.3f ms\n", with.seconds, static_cast<unsigned long long>(agent.directives()),
                static_cast<unsigned long long>(agent.blocks()), static_cast<unsigned long long>(agent.late()), static_cast<unsigned long long>(held), static_cast<double>(longest) / 1e6);
}

TEST_P(Pacing, EndsAsWithoutUs) {
    for (const char* what : {"fork", "exec", "exit", "abort", "kill", "threads"}) {
        SCOPED_TRACE(what);
        Job job(GetParam(), 2);
        force(job);
        FakeAgent agent(job.folder(), at_random(2));
        const Outcome with = job.run("pacing", {what, "500"}), without = job.run_without("pacing", {what, "500"});
        agent.stop();
        EXPECT_TRUE(ended_alike(GetParam(), with.exit_code, without.exit_code)) << with.exit_code << " and " << without.exit_code << ": " << with.err;
        EXPECT_EQ(lines_of_ranks(with.out), lines_of_ranks(without.out));
        EXPECT_EQ(with.err.find("paced-fabric:"), std::string::npos) << with.err;
        EXPECT_GT(agent.directives(), 0u);
        std::printf("%s: %.1f s, without %.1f s\n", what, with.seconds, without.seconds);
    }
}

TEST_P(Pacing, StoppedPeerIsWaitedForUntilTheCapAlone) {
    constexpr std::uint64_t cap = 20 * ms;
    Job job(GetParam(), 2);
    force(job);
    FakeAgent agent(job.folder(), always(Arm::hold_local, 0, cap));
    const Outcome with = job.run("pacing", {"stop", "800"}), without = job.run_without("pacing", {"stop", "800"});
    agent.stop();
    EXPECT_EQ(with.exit_code, 0) << with.err;
    EXPECT_EQ(lines_of_ranks(with.out), lines_of_ranks(without.out));
    const auto trace = job.trace();
    const auto ranks = ranks_of(trace);
    ASSERT_EQ(ranks.size(), 2u);
    std::uint64_t held = 0;
    EXPECT_LT(longest_hold(trace, held), cap + tolerance);
    EXPECT_GT(held, 100u);
    // the call in which rank 0 waited 300 ms for rank 1: held for the cap, in MPI for the rest
    std::uint64_t longest = 0, its_hold = 0;
    for (const auto& communicator : ranks[0].communicators)
        for (const auto& record : communicator.records)
            if (record.completion_ns != 0 && record.completion_ns - record.arrival_ns > longest) {
                longest = record.completion_ns - record.arrival_ns;
                its_hold = record.held_ns;
            }
    EXPECT_GT(longest, 200 * ms);
    if (its_hold != 0) {  // 0: it was a call that nobody is held at
        EXPECT_GE(its_hold + 100, cap);
        EXPECT_LT(its_hold, longest);
    }
}

TEST_P(Pacing, LocalHoldMostlyEndsWithTheLastArrival) {
    Job job(GetParam(), 2);
    force(job);
    FakeAgent agent(job.folder(), [](const pacing::PacedCommunicator& entry, std::uint64_t calls, pacing::Directive& directive) {
        if (entry.next.epoch != 0 || calls < 5) return false;
        directive.from_sequence = calls + 5;
        directive.period = 1;
        directive.length = 40;
        directive.setting.arm = Arm::hold_local;
        directive.setting.cap_ns = 1000 * ms;
        return true;
    });
    const Outcome with = job.run("pacing", {"soak", "800"});
    agent.stop();
    EXPECT_EQ(with.exit_code, 0) << with.err;
    EXPECT_GT(agent.held(), 40u);
    EXPECT_EQ(agent.timeouts(), 0u) << "of " << agent.held();
}

// A pacing that nothing decides changes nothing but the mode.
TEST_P(Pacing, WithoutDirectives) {
    Job job(GetParam(), 2);
    force(job);
    const Outcome with = job.run("pacing", {"soak", "300"});
    EXPECT_EQ(with.exit_code, 0) << with.err;
    EXPECT_EQ(with.err, "");
    std::uint64_t held = 0;
    longest_hold(job.trace(), held);
    EXPECT_EQ(held, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, Pacing, testing::Values(Mpi::open_mpi, Mpi::mpich), [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace paced::test
