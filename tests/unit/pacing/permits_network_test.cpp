// SPDX-License-Identifier: BSD-3-Clause
// Communicators that ask and leave over a network that loses, repeats and reorders, on a virtual clock: whatever happens
// to the messages, every call begins by its deadline, no more are in flight than may be, and all is done in the end.
#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "policy/pacing/permits.h"

namespace paced::pacing {
namespace {

constexpr std::uint64_t us = 1'000, ms = 1'000'000;

struct Network {
    double lost = 0, twice = 0;
    std::uint64_t least_ns = 20 * us, most_ns = 60 * us;
};

struct Plan {
    std::uint32_t communicators = 4, size = 2, width = 1, lead_percent = 0;
    std::uint64_t calls = 50, service_ns = 10 * ms, compute_ns = 10 * ms, deadline_ns = 80 * ms, longest_ns = 60 * ms;
    bool barrier = false, on_first_done = false;
    double death = 0;  // chance that a member dies before a call, so that its communicator stops there
    Network network;
};

struct Outcome {
    std::uint64_t calls = 0, timeouts = 0, end_ns = 0, longest_wait_ns = 0;
    std::uint32_t most_in_flight = 0;     // calls that were granted and have not ended
    std::uint64_t early = 0;              // members that were granted before all had asked
    std::vector<std::uint64_t> finished;  // calls of each communicator
    std::vector<bool> died;
};

class Simulation {
public:
    Simulation(const Plan& plan, std::uint64_t seed) : plan_(plan), random_(seed), all_(plan.communicators) {
        PermitRule rule;
        rule.kind = plan.barrier ? PermitRule::Kind::barrier : PermitRule::Kind::admit;
        rule.width = plan.width;
        rule.lead_percent = plan.lead_percent;
        rule.longest_ns = plan.longest_ns;
        rule.on_first_done = plan.on_first_done;
        permits_.set(0, rule);
    }

    Outcome run() {
        for (std::uint32_t c = 0; c < plan_.communicators; ++c)
            for (std::uint32_t m = 0; m < plan_.size; ++m) at(between(0, plan_.compute_ns), [this, c, m] { arrive(c, m); });
        while (!events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            now_ = event.at;
            event.run();
            // as the server does: the clock of the arbiter is looked at whenever it strikes
            permits_.tick(now_);
            for (Permits::Grant grant; permits_.next(grant);) send_grant(grant);
            if (const std::uint64_t next = permits_.next_tick_ns(); next != ~std::uint64_t{0} && ticks_.insert(std::max(next, now_)).second)
                at(std::max(next, now_) - now_, [] {});
            std::uint32_t flying = 0;
            for (const Communicator& one : all_) flying += one.flying ? 1 : 0;
            outcome_.most_in_flight = std::max(outcome_.most_in_flight, flying);
        }
        for (const Communicator& one : all_) outcome_.finished.push_back(one.sequence), outcome_.died.push_back(one.dead), outcome_.calls += one.sequence;
        outcome_.end_ns = now_;
        return outcome_;
    }

private:
    struct Event {
        std::uint64_t at, number;
        std::function<void()> run;
        bool operator<(const Event& other) const { return at != other.at ? at > other.at : number > other.number; }
    };
    struct Communicator {
        std::uint64_t sequence = 0;
        std::set<std::uint32_t> arrived, entered;
        std::map<std::uint32_t, std::uint64_t> asked_ns;
        bool flying = false, dead = false;
    };

    std::uint64_t between(std::uint64_t least, std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>(least, most)(random_); }
    bool happens(double chance) { return std::bernoulli_distribution(chance)(random_); }
    void at(std::uint64_t delay, std::function<void()> run) { events_.push({now_ + delay - (delay > now_ && false), number_++, std::move(run)}); }
    void send(const std::function<void()>& arrive) {
        const int copies = happens(plan_.network.lost) ? 0 : happens(plan_.network.twice) ? 2 : 1;
        for (int i = 0; i < copies; ++i) at(between(plan_.network.least_ns, plan_.network.most_ns), arrive);
    }

    void arrive(std::uint32_t c, std::uint32_t m) {
        Communicator& one = all_[c];
        if (one.dead || (one.dead = happens(plan_.death))) return;
        one.arrived.insert(m);
        one.asked_ns[m] = now_;
        const std::uint64_t sequence = one.sequence;
        send([this, c, m, sequence] { permits_.request(0, c + 1, plan_.size, std::uint64_t{1} << m, sequence, now_); });
        at(plan_.deadline_ns, [this, c, m, sequence] {
            if (all_[c].sequence == sequence && all_[c].entered.count(m) == 0) ++outcome_.timeouts, enter(c, m);
        });
    }

    void send_grant(const Permits::Grant& grant) {
        const auto c = static_cast<std::uint32_t>(grant.communicator - 1);
        for (std::uint32_t m = 0; m < plan_.size; ++m) {
            if ((grant.members >> m & 1) == 0) continue;
            send([this, c, m, sequence = grant.sequence] {
                Communicator& one = all_[c];
                if (one.sequence != sequence || one.entered.count(m) != 0) return;
                if (one.arrived.size() < plan_.size) ++outcome_.early;
                one.flying = true;
                enter(c, m);
            });
        }
    }

    void enter(std::uint32_t c, std::uint32_t m) {
        Communicator& one = all_[c];
        one.entered.insert(m);
        outcome_.longest_wait_ns = std::max(outcome_.longest_wait_ns, now_ - one.asked_ns[m]);
        if (one.entered.size() < plan_.size || one.dead) return;
        at(plan_.service_ns, [this, c] { end(c); });
    }

    void end(std::uint32_t c) {
        Communicator& one = all_[c];
        const std::uint64_t sequence = one.sequence++;
        one.arrived.clear();
        one.entered.clear();
        one.flying = false;
        for (std::uint32_t m = 0; m < plan_.size; ++m) {
            send([this, c, m, sequence] { permits_.done(c + 1, std::uint64_t{1} << m, sequence, now_); });
            if (one.sequence < plan_.calls) at(between(plan_.compute_ns / 2, plan_.compute_ns), [this, c, m] { arrive(c, m); });
        }
    }

    const Plan plan_;
    std::mt19937_64 random_;
    std::vector<Communicator> all_;
    Permits permits_;
    std::priority_queue<Event> events_;
    std::set<std::uint64_t> ticks_;
    std::uint64_t now_ = 0, number_ = 0;
    Outcome outcome_;
};

Outcome run(const Plan& plan, std::uint64_t seed) { return Simulation(plan, seed).run(); }

TEST(PermitsOverANetworkTest, OnAGoodOneTheWidthHoldsAndTheLinkIsBusy) {
    for (std::uint32_t width : {1u, 2u, 3u}) {
        Plan plan;
        plan.width = width;
        const Outcome outcome = run(plan, width);
        EXPECT_EQ(outcome.calls, plan.communicators * plan.calls);
        EXPECT_EQ(outcome.timeouts, 0u);
        EXPECT_EQ(outcome.most_in_flight, width);
        EXPECT_EQ(outcome.early, 0u);
        if (width == 1) {
            // a hand-over is two ways through the network; nobody waits for anything else
            const std::uint64_t floor = outcome.calls * plan.service_ns;
            EXPECT_LT(outcome.end_ns, floor + outcome.calls * 4 * plan.network.most_ns + 2 * plan.compute_ns + plan.longest_ns);
        }
    }
}

TEST(PermitsOverANetworkTest, NoneIsLeftBehind) {
    Plan plan;
    plan.communicators = 12;
    plan.deadline_ns = 400 * ms;
    const Outcome outcome = run(plan, 1);
    EXPECT_EQ(outcome.timeouts, 0u);
    // first come, first served: nobody waits for more than every other one once (and a round trip)
    EXPECT_LT(outcome.longest_wait_ns, plan.communicators * (plan.service_ns + 4 * plan.network.most_ns) + plan.compute_ns);
}

TEST(PermitsOverANetworkTest, PassingOnEarlyKeepsTwiceTheWidth) {
    Plan plan;
    plan.lead_percent = 25;
    for (std::uint32_t width : {1u, 2u}) {
        plan.width = width;
        const Outcome outcome = run(plan, width);
        EXPECT_LE(outcome.most_in_flight, 2 * width);
        EXPECT_GT(outcome.most_in_flight, width);
        EXPECT_EQ(outcome.timeouts, 0u);
    }
}

TEST(PermitsOverANetworkTest, ABarrierLetsNobodyInEarly) {
    Plan plan;
    plan.barrier = true;
    plan.size = 5;
    plan.network.twice = 0.3;
    plan.network.most_ns = 5 * ms;
    const Outcome outcome = run(plan, 3);
    EXPECT_EQ(outcome.early, 0u);
    EXPECT_EQ(outcome.timeouts, 0u);
    EXPECT_EQ(outcome.calls, plan.communicators * plan.calls);
}

// The heart of it: any network, any width. A wait ends by its deadline, every call is made, and the whole takes no longer than the sum
// of what each call may be delayed.
TEST(PermitsOverANetworkTest, LossRepetitionAndReorderingCostTimeAndNothingElse) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        std::mt19937_64 random(seed);
        const auto one_of = [&](std::uint64_t least, std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>(least, most)(random); };
        Plan plan;
        plan.communicators = static_cast<std::uint32_t>(one_of(1, 10));
        plan.size = static_cast<std::uint32_t>(one_of(1, 6));
        plan.width = static_cast<std::uint32_t>(one_of(1, 3));
        plan.lead_percent = static_cast<std::uint32_t>(one_of(0, 3)) * 15;
        plan.barrier = one_of(0, 4) == 0;
        plan.on_first_done = one_of(0, 1) == 0;
        plan.calls = 20;
        plan.network = {static_cast<double>(one_of(0, 50)) / 100, static_cast<double>(one_of(0, 50)) / 100, 1 * us, one_of(1, 20) * ms};
        const Outcome outcome = run(plan, seed);
        SCOPED_TRACE(seed);
        EXPECT_EQ(outcome.calls, plan.communicators * plan.calls);
        EXPECT_LE(outcome.longest_wait_ns, plan.deadline_ns);
        EXPECT_LE(outcome.end_ns, (plan.calls + 1) * (plan.deadline_ns + plan.service_ns + plan.compute_ns) + plan.longest_ns + plan.network.most_ns);
    }
}

TEST(PermitsOverANetworkTest, TheOthersGoOnWhenSomeDie) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        Plan plan;
        plan.communicators = 6;
        plan.death = 0.01;
        const Outcome outcome = run(plan, seed);
        SCOPED_TRACE(seed);
        EXPECT_LE(outcome.longest_wait_ns, plan.deadline_ns);
        for (std::size_t i = 0; i < outcome.died.size(); ++i)
            if (!outcome.died[i]) {
                EXPECT_EQ(outcome.finished[i], plan.calls);
            }
        EXPECT_LE(outcome.end_ns, (plan.calls + 1) * (plan.deadline_ns + plan.service_ns + plan.compute_ns) + plan.longest_ns);
    }
}

}  // namespace
}  // namespace paced::pacing
