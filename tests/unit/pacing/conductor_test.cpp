// SPDX-License-Identifier: BSD-3-Clause
// The conductor with a made-up job: communicators whose calls take virtual time, nodes that report every 100 ms, and
// messages that take theirs.
#include "policy/pacing/conductor.h"

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace paced::pacing {
namespace {

constexpr std::uint64_t ms = 1'000'000;

struct Member {
    std::uint64_t id = 0;
    std::uint64_t calls = 0, said = 0;
    double next_ns = 0;  // when the next call ends
    std::vector<Directive> known;
    Directive running, pending;
    RankBlock block;
    double last_end_ns = 0;
};

// Parallel groups of one program, each in its own communicator of `size`, period 1.
class Job {
public:
    Job(int groups, std::uint32_t size, std::uint64_t signature, std::uint32_t seed) : random_(seed), size_(size), signature_(signature), members_(groups) {
        for (int i = 0; i < groups; ++i) members_[i].id = signature * 1000 + i + 1;
    }
    // Duration of one iteration of a group, ns, under a setting.
    std::function<double(const Setting&, std::mt19937&)> duration = [](const Setting&, std::mt19937& random) {
        return std::lognormal_distribution<double>(std::log(20e6), 0.05)(random);
    };

    // Of a group, a bit each.
    std::function<std::uint64_t(int)> leaf_set = [](int) { return std::uint64_t{3}; };

    void run_until(double now_ns) {
        for (Member& member : members_)
            while (member.next_ns <= now_ns) call(member);
    }

    void report(Conductor& conductor, std::uint64_t now_ns) {
        for (Member& member : members_) {
            Progress progress{};
            progress.communicator = member.id;
            progress.calls = member.calls;
            progress.signature = &member == &members_.back() && now_ns < last_agrees_ns ? 0 : signature_;
            progress.bytes = 131072;
            progress.period = 1;
            progress.size = size_;
            progress.members = size_;
            progress.most_local = 1;
            progress.local = 1;
            progress.leaves = 2;
            progress.leaf_set = leaf_set(static_cast<int>(&member - members_.data()));
            // as the exchange does: what has not changed is not said again
            if (member.calls != member.said || signature_ != said_) conductor.progress(progress, now_ns);
            member.said = member.calls;
            for (const BlockSummary& block : member_blocks_[member.id]) conductor.block(block);
            member_blocks_[member.id].clear();
        }
        said_ = signature_;
    }

    void deliver(const Directive& directive) {
        for (Member& member : members_) {
            if (member.id != directive.communicator) continue;
            given.push_back(directive);
            Directive& last = member.pending.epoch != member.running.epoch ? member.pending : member.running;
            if (extends(directive, last)) {
                ++extended;
                last = directive;
                // one that has ended already
                if (&last == &member.running && member.block.iterations == member.running.length) member.pending = following(member.running);
                continue;
            }
            if (directive.from_sequence < member.calls) ++late;
            member.pending = directive;
        }
    }

    std::vector<Member>& members() { return members_; }
    void rename(std::uint64_t signature) { signature_ = signature; }

    int late = 0, extended = 0, blocks = 0, late_blocks = 0, idle_calls = 0;
    std::vector<Directive> given;
    std::uint64_t paced_calls = 0;
    bool swallow_blocks = false;
    bool synchronous = false;          // an iteration lasts as long in each group
    std::uint64_t last_agrees_ns = 0;  // before, one node's word about the last group is old

private:
    void call(Member& member) {
        if (member.pending.epoch != member.running.epoch && member.calls >= member.pending.from_sequence) {
            member.block = RankBlock{};
            member.block.epoch = member.pending.epoch;
            member.block.late = member.calls > member.pending.from_sequence ? 1 : 0;
            late_blocks += static_cast<int>(member.block.late);
            member.running = member.pending;
            ++blocks;
        }
        if (synchronous) random_.seed(static_cast<std::uint32_t>(member.calls));
        const double took = duration(member.running.setting, random_);
        member.next_ns += took;
        ++member.calls;
        if (member.running.setting.arm != Arm::off) ++paced_calls;
        if (member.running.epoch == 0) return;
        const std::uint64_t done = member.calls - member.running.from_sequence;
        if (member.block.iterations == member.running.length) {
            ++idle_calls;
            return;
        }
        if (done <= member.running.skip) return;
        RankBlock& block = member.block;
        ++block.iterations;
        ++block.calls;
        const auto ns = static_cast<std::uint64_t>(took);
        block.iterations_ns += ns;
        block.iterations_ns2 += took * took;
        block.wait_ns += ns / 2;
        block.service_ns += ns / 2;
        block.shortest_wait_ns = block.shortest_wait_ns == 0 || ns / 2 < block.shortest_wait_ns ? ns / 2 : block.shortest_wait_ns;
        block.longest_wait_ns = std::max(block.longest_wait_ns, ns / 2);
        block.longest_service_ns = block.longest_wait_ns;
        if (block.iterations < member.running.length) return;
        if (member.running.then_length > 0 && member.pending.epoch == member.running.epoch) member.pending = following(member.running);
        if (swallow_blocks) return;
        BlockSummary sum = summary_of(block, member.id, size_, 0);
        for (std::uint32_t i = 1; i < size_; ++i) join(sum, summary_of(block, member.id, size_, i));
        member_blocks_[member.id].push_back(sum);
    }

    std::mt19937 random_;
    std::uint32_t size_;
    std::uint64_t signature_, said_ = 0;
    std::vector<Member> members_;
    std::map<std::uint64_t, std::vector<BlockSummary>> member_blocks_;
};

// What a conductor is in the leader: reports each 100 ms, directives that arrive 30 ms later.
class World {
public:
    explicit World(const Tuning& tuning = {}) : conductor(std::make_unique<Conductor>(tuning, ~std::uint64_t{0}, 1)) {}

    void run(double seconds) {
        const std::uint64_t end = now + static_cast<std::uint64_t>(seconds * 1e9);
        std::vector<Directive> directives(conducted_limit);
        while (now < end) {
            now += 100 * ms;
            for (Job* job : jobs) {
                job->run_until(static_cast<double>(now));
                job->report(*conductor, now);
            }
            const std::uint32_t count = conductor->directives(now, directives.data(), conducted_limit);
            for (Job* job : jobs) {
                job->run_until(static_cast<double>(now + 30 * ms));
                for (std::uint32_t i = 0; i < count; ++i) job->deliver(directives[i]);
            }
        }
    }

    // The same, while 40 segments are sent again in each round.
    void run_losing(int rounds, double seconds) {
        for (int i = 0; i < rounds; ++i) {
            conductor->retransmissions(segments_ += 40);
            run(seconds);
        }
    }

    std::unique_ptr<Conductor> conductor;
    std::vector<Job*> jobs;
    std::uint64_t now = 1000 * ms;

private:
    std::uint64_t segments_ = 0;
};

// Overload: every so often a group stalls for 200 ms, unless turns are taken.
double cliff(const Setting& setting, std::mt19937& random) {
    const bool turns = setting.arm == Arm::admit || setting.arm == Arm::slots;
    const double base = std::lognormal_distribution<double>(std::log(turns ? 80e6 : 75e6), 0.05)(random);
    return base + (!turns && std::bernoulli_distribution(0.3)(random) ? 200e6 : 0);
}

TEST(Conductor, ParallelGroupsAreOneClassAndChangeTogether) {
    World world;
    Job job(4, 2, 7, 1);
    world.jobs = {&job};
    world.run(20);
    ASSERT_EQ(world.conductor->classes(), 1u);
    EXPECT_EQ(world.conductor->account(0).facts.communicators, 4u);
    EXPECT_EQ(job.late, 0);
    ASSERT_GE(job.given.size(), 8u);
    // in each round every group once, positions 0 to 3, one setting, one length
    for (std::size_t i = 0; i + 3 < job.given.size(); i += 4) {
        std::set<std::uint32_t> positions;
        for (std::size_t j = i; j < i + 4; ++j) {
            positions.insert(job.given[j].position);
            EXPECT_EQ(job.given[j].setting, job.given[i].setting);
            EXPECT_EQ(job.given[j].epoch, job.given[i].epoch);
            EXPECT_EQ(job.given[j].length, job.given[i].length);
            EXPECT_GT(job.given[j].length, 0u);
        }
        EXPECT_EQ(positions.size(), 4u);
    }
}

// What the next pair shall be is told while the last one still runs: iterations that nobody measures are few, and no block begins late.
TEST(Conductor, HardlyACallLiesBetweenTwoBlocksOfProbes) {
    Tuning tuning;
    tuning.allowance_blocks = 100;
    World world(tuning);
    Job job(4, 2, 7, 1);
    job.synchronous = true;
    // time-outs, of which turns take a little: that takes many pairs to show
    job.duration = [](const Setting& setting, std::mt19937& random) { return 75e6 + (std::bernoulli_distribution(setting.arm == Arm::slots ? 0.2 : 0.3)(random) ? 200e6 : 0); };
    world.jobs = {&job};
    world.run_losing(50, 0.1);
    const int idle_before = job.idle_calls;
    world.run_losing(300, 0.1);
    const pacing::Account& account = world.conductor->account(0).account;
    std::uint32_t pairs = 0;
    for (std::uint32_t i = 0; i < account.count; ++i) pairs += account.trials[i].pairs;
    EXPECT_GE(pairs, 10u);
    EXPECT_GT(job.extended, 20);
    EXPECT_EQ(job.late_blocks, 0);
    // 104 where each pair is told after the one before it has been heard of
    EXPECT_LT(job.idle_calls - idle_before, 60);
}

// A node on a busy machine may speak a second late, and until then its members seem to disagree.
TEST(Conductor, GroupsThatShareNoLeafTakeTurnsByThemselves) {
    struct Case {
        int groups;
        std::function<std::uint64_t(int)> leaf_set;
        std::uint32_t rivals;
        std::size_t domains;
    };
    const Case cases[] = {
        {4, [](int) { return 3; }, 4, 1},
        {4, [](int group) { return group < 2 ? 3 : 12; }, 2, 2},
        {3, [](int group) { return std::uint64_t{3} << group; }, 3, 1},                  // the first and the last meet by way of the second
        {4, [](int group) { return group == 3 ? 0 : std::uint64_t{3} << 2 * group; }, 4, 1},  // not known: may be anywhere
        {20, [](int group) { return std::uint64_t{3} << 2 * group; }, 5, domain_limit},
    };
    for (const Case& one : cases) {
        World world;
        Job job(one.groups, 2, 7, 3);
        job.leaf_set = one.leaf_set;
        world.jobs = {&job};
        world.run(5);
        ASSERT_EQ(world.conductor->classes(), 1u);
        EXPECT_EQ(world.conductor->account(0).facts.communicators, static_cast<std::uint32_t>(one.groups));
        EXPECT_EQ(world.conductor->account(0).facts.rivals, one.rivals);
        std::map<int, std::set<std::uint32_t>> positions;
        int members = 0;
        for (const Member& member : job.members()) {
            ASSERT_NE(member.pending.epoch, 0u);
            EXPECT_TRUE(positions[member.pending.setting.domain].insert(member.pending.position).second);
            ++members;
        }
        EXPECT_EQ(positions.size(), one.domains);
        for (const auto& [domain, taken] : positions) EXPECT_EQ(*taken.rbegin() + 1, taken.size());
        EXPECT_EQ(members, one.groups);
    }
}

TEST(Conductor, AGroupWhoseNodeSpeaksLateIsWaitedForButNotForEver) {
    World world;
    Job job(4, 2, 7, 1);
    job.last_agrees_ns = world.now + 1800 * ms;
    world.jobs = {&job};
    world.run(6);
    ASSERT_EQ(world.conductor->classes(), 1u);
    EXPECT_EQ(world.conductor->account(0).facts.communicators, 4u);
    EXPECT_FALSE(job.given.empty());

    World other;
    Job without(4, 2, 7, 1);
    without.last_agrees_ns = ~std::uint64_t{0};
    other.jobs = {&without};
    other.run(4);
    ASSERT_EQ(other.conductor->classes(), 1u);
    EXPECT_EQ(other.conductor->account(0).facts.communicators, 3u);
    EXPECT_FALSE(without.given.empty());
}

TEST(Conductor, EngagesWhatHelpsAndLeavesAloneWhatDoesNot) {
    World world;
    Job job(4, 2, 7, 2);
    job.duration = cliff;
    world.jobs = {&job};
    world.run_losing(60, 2);
    const auto& account = world.conductor->account(0);
    EXPECT_TRUE(account.account.state == Ended::engaged) << name_of(account.account.state);
    EXPECT_TRUE(account.account.engaged.arm == Arm::admit || account.account.engaged.arm == Arm::slots) << name_of(account.account.engaged.arm);
    EXPECT_GT(job.paced_calls, 0u);

    World calm;
    calm.conductor->surroundings(true, false);
    Job even(4, 2, 7, 3);
    calm.jobs = {&even};
    calm.run(120);
    EXPECT_EQ(even.paced_calls, 0u);
}

TEST(Conductor, AFaultTurnsEverythingOffForGood) {
    World world;
    Job job(4, 2, 7, 2);
    job.duration = cliff;
    world.jobs = {&job};
    world.run_losing(10, 2);
    world.conductor->fault();
    world.run(1);
    for (const Member& member : job.members()) EXPECT_EQ(member.pending.setting.arm, Arm::off);
    const std::size_t given = job.given.size();
    world.run(30);
    EXPECT_EQ(job.given.size(), given);
}

TEST(Conductor, BlocksThatNeverComeBackEndInOff) {
    World world;
    Job job(2, 2, 7, 4);
    job.duration = cliff;
    job.swallow_blocks = true;
    world.jobs = {&job};
    world.run(120);
    EXPECT_EQ(world.conductor->account(0).account.state, Ended::fault);
    for (const Member& member : job.members()) EXPECT_EQ(member.pending.setting.arm, Arm::off);
}

TEST(Conductor, ACommunicatorThatIsFreedIsNoFault) {
    World world;
    Job job(4, 2, 7, 4);
    world.jobs = {&job};
    world.run(10);
    ASSERT_EQ(world.conductor->account(0).facts.communicators, 4u);
    job.members()[1].next_ns = INFINITY;
    world.run(40);
    EXPECT_EQ(world.conductor->account(0).account.state, Ended::moved_on);
    ASSERT_EQ(world.conductor->classes(), 2u);
    EXPECT_EQ(world.conductor->account(1).facts.communicators, 3u);
    EXPECT_GT(world.conductor->account(1).account.blocks, 2u);
    EXPECT_EQ(world.conductor->account(1).account.void_blocks, 0u);
}

TEST(Conductor, AProgramThatStopsForAWhileLosesNothing) {
    World world;
    Job job(2, 2, 7, 4);
    world.jobs = {&job};
    world.run(10);
    for (Member& member : job.members()) member.next_ns += 60e9;  // a checkpoint
    world.run(75);
    EXPECT_NE(world.conductor->account(0).account.state, Ended::fault);
    EXPECT_EQ(job.late, 0);
}

TEST(Conductor, AnotherLoopIsAnotherClass) {
    World world;
    Job job(2, 2, 7, 4);
    world.jobs = {&job};
    world.run(10);
    ASSERT_EQ(world.conductor->classes(), 1u);
    job.rename(9);
    world.run(1);
    for (const Member& member : job.members()) EXPECT_EQ(member.pending.setting.arm, Arm::off);
    world.run(9);
    ASSERT_EQ(world.conductor->classes(), 2u);
    EXPECT_EQ(world.conductor->account(1).facts.communicators, 2u);
    EXPECT_GT(world.conductor->account(1).account.blocks, 0u);
    EXPECT_EQ(world.conductor->account(1).account.void_blocks, 0u);
    world.conductor->fault();
    world.run(1);
    EXPECT_EQ(world.conductor->account(0).account.state, Ended::moved_on);
    EXPECT_EQ(world.conductor->account(1).account.state, Ended::fault);
}

TEST(Conductor, WhatWasEngagedInALoopThatEndedIsNotSaidToBeSo) {
    World world;
    Job job(4, 2, 7, 2);
    job.duration = cliff;
    world.jobs = {&job};
    world.run_losing(60, 2);
    ASSERT_EQ(world.conductor->account(0).account.state, Ended::engaged);
    job.rename(9);
    world.run(2);
    world.conductor->finish();
    const Account& account = world.conductor->account(0).account;
    EXPECT_EQ(account.state, Ended::moved_on);
    EXPECT_EQ(account.engaged.arm, Arm::off);
    std::uint32_t engaged = 0;
    for (std::uint32_t i = 0; i < account.count; ++i) {
        EXPECT_NE(account.trials[i].ended, Ended::engaged);
        if (account.trials[i].engaged_iteration == 0) continue;
        ++engaged;
        EXPECT_LT(account.trials[i].engaged_iteration, account.trials[i].decided_iteration);
    }
    EXPECT_GT(engaged, 0u);
}

TEST(Conductor, WhatWasLearntOfALoopHoldsWhenTheProgramComesBackToIt) {
    World world;
    Job job(4, 2, 7, 2);
    job.duration = cliff;
    world.jobs = {&job};
    world.run_losing(60, 2);
    ASSERT_EQ(world.conductor->account(0).account.state, Ended::engaged);
    for (int round = 1; round <= 12; ++round) {  // more than there are places for classes
        job.rename(9);
        world.run(5);
        for (const Member& member : job.members()) EXPECT_EQ(member.running.setting.arm, Arm::off);
        const std::uint64_t blocks = world.conductor->account(0).account.blocks;
        job.rename(7);
        world.run(10);
        const Account& account = world.conductor->account(0).account;
        EXPECT_EQ(account.state, Ended::engaged);
        EXPECT_EQ(account.resumed, static_cast<std::uint32_t>(round));
        EXPECT_GT(account.blocks, blocks + 3);
        EXPECT_EQ(account.void_blocks, 0u);
    }
    EXPECT_EQ(world.conductor->classes(), 2u);
    EXPECT_EQ(job.late, 0);
}

TEST(Conductor, AnExperimentGoesOnWhereItWasLeft) {
    World world;
    Job job(4, 2, 7, 2);
    job.duration = cliff;
    world.jobs = {&job};
    for (int round = 0; round < 30; ++round) {
        job.rename(7);
        world.run_losing(4, 2);
        job.rename(9);
        world.run(3);
    }
    job.rename(7);
    world.run(5);
    EXPECT_EQ(world.conductor->account(0).account.state, Ended::engaged);
    EXPECT_EQ(world.conductor->classes(), 2u);
}

TEST(Conductor, AClassThatLacksOneForGoodMakesRoom) {
    World world;
    Job job(4, 2, 7, 4);
    world.jobs = {&job};
    world.run(10);
    job.rename(9);
    world.run(5);
    job.members()[1].next_ns = INFINITY;
    job.rename(7);
    world.run(30);
    EXPECT_EQ(world.conductor->account(0).account.state, Ended::moved_on);
    const std::uint32_t last = world.conductor->classes() - 1;
    EXPECT_EQ(world.conductor->account(last).facts.communicators, 3u);
    EXPECT_GT(world.conductor->account(last).account.blocks, 2u);
}

TEST(Conductor, AClassThatComesWhileAnotherIsEngagedHasItsTurn) {
    World world;
    Job first(4, 2, 7, 2), second(2, 4, 8, 5);
    first.duration = cliff;
    world.jobs = {&first};
    world.run_losing(60, 2);
    ASSERT_EQ(world.conductor->account(0).account.state, Ended::engaged);
    for (Member& member : second.members()) member.next_ns = static_cast<double>(world.now);
    world.jobs = {&first, &second};
    world.run(20);
    ASSERT_EQ(world.conductor->classes(), 2u);
    EXPECT_GT(world.conductor->account(1).account.blocks, 0u);
}

TEST(Conductor, OneClassIsProbedAtATime) {
    World world;
    Job first(2, 2, 7, 4), second(2, 4, 8, 5);
    first.duration = second.duration = cliff;
    world.jobs = {&first, &second};
    std::uint64_t segments = 0;
    for (int i = 0; i < 100; ++i) {
        world.conductor->retransmissions(segments += 40);
        world.run(1);
        ASSERT_LE(world.conductor->classes(), 2u);
        int probing = 0;
        for (const Job* job : {&first, &second})
            for (const Member& member : const_cast<Job*>(job)->members())
                if (member.running.setting.arm != Arm::off) {
                    ++probing;
                    break;
                }
        const bool one_engaged = world.conductor->account(0).account.state == Ended::engaged || world.conductor->account(1).account.state == Ended::engaged;
        if (!one_engaged) {
            EXPECT_LE(probing, 1);
        }
    }
    EXPECT_EQ(world.conductor->classes(), 2u);
}

TEST(Conductor, LinesAreTheBlocksInTheirOrder) {
    World world;
    Job job(2, 2, 7, 4);
    world.jobs = {&job};
    world.run(20);
    std::vector<BlockLine> lines(64);
    const std::uint32_t count = world.conductor->lines(lines.data(), 64);
    ASSERT_GT(count, 2u);
    for (std::uint32_t i = 0; i < count; ++i) {
        EXPECT_EQ(lines[i].signature, 7u);
        EXPECT_NEAR(lines[i].mean_ns, 20e6, 2e6);
        EXPECT_NEAR(lines[i].log_mean, std::log(20e6), 0.1);
        EXPECT_EQ(lines[i].communicators, 2u);
    }
    EXPECT_EQ(world.conductor->lines(lines.data(), 64), 0u);
}

}  // namespace
}  // namespace paced::pacing
