// SPDX-License-Identifier: BSD-3-Clause
#include "policy/simulation/network.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

namespace paced::simulation {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

Overload no_overload() {
    Overload overload;
    overload.on = false;
    return overload;
}

// Rates that rise together in small steps until something is full: slow, and obviously right.
std::vector<double> raised(const std::vector<Link>& links, const std::vector<Transfer>& transfers) {
    std::vector<double> rate(transfers.size(), 0.0);
    std::vector<bool> stays(transfers.size(), false);
    constexpr double step = 1e-4;
    for (bool rising = true; rising;) {
        rising = false;
        for (std::size_t i = 0; i < rate.size(); ++i) {
            if (stays[i]) continue;
            rate[i] += step;
            rising = true;
        }
        for (std::size_t i = 0; i < rate.size(); ++i) stays[i] = stays[i] || rate[i] >= transfers[i].most_bytes_s;
        for (std::uint32_t link = 0; link < links.size(); ++link) {
            double used = 0;
            for (std::size_t i = 0; i < rate.size(); ++i)
                for (const Use& use : transfers[i].uses)
                    if (use.link == link) used += use.weight * rate[i];
            if (used < links[link].bytes_s) continue;
            for (std::size_t i = 0; i < rate.size(); ++i)
                for (const Use& use : transfers[i].uses)
                    if (use.link == link) stays[i] = true;
        }
    }
    return rate;
}

struct Made {
    std::vector<Link> links;
    std::vector<Transfer> transfers;
};

Made made(std::uint64_t seed) {
    Draws draws(seed);
    Made network;
    network.links.resize(1 + draws.below(8));
    for (Link& link : network.links) link = {1 + 9 * draws.uniform(), infinite, -1, -1};
    network.transfers.resize(1 + draws.below(7));
    for (Transfer& transfer : network.transfers) {
        transfer.bytes = 1e9;
        transfer.most_bytes_s = draws.below(3) == 0 ? 0.2 + 2 * draws.uniform() : 20;
        for (std::uint32_t link = 0; link < network.links.size(); ++link)
            if (draws.below(3) == 0) transfer.uses.push_back({link, 1, 0.5 + draws.below(6)});
    }
    return network;
}

TEST(Network, SharesAsASlowSolverDoes) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const Made network = made(seed);
        Queue queue;
        Network fluid(network.links, 0, Transport::tcp, no_overload(), 1, queue);
        std::vector<Network::Id> ids;
        for (const Transfer& transfer : network.transfers) ids.push_back(fluid.begin({&transfer, 0}, 0));
        const std::vector<double> expected = raised(network.links, network.transfers);
        for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_NEAR(fluid.rate(ids[i]), expected[i], 0.003) << "seed " << seed << " flow " << i;
    }
}

// The same after some of them have left: what is worked out for the changed part alone must be what all together would give.
TEST(Network, SharesAfterOthersHaveLeftAsIfTheyHadNeverBeenThere) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const Made network = made(seed);
        Queue queue;
        Network some(network.links, 0, Transport::tcp, no_overload(), 1, queue), fresh(network.links, 0, Transport::tcp, no_overload(), 1, queue);
        std::vector<Network::Id> ids, left;
        for (const Transfer& transfer : network.transfers) ids.push_back(some.begin({&transfer, 0}, 0));
        for (std::size_t i = 0; i < ids.size(); i += 2) some.withdraw(ids[i], 0.5);
        for (std::size_t i = 1; i < ids.size(); i += 2) left.push_back(fresh.begin({&network.transfers[i], 0}, 0));
        for (std::size_t i = 0; i < left.size(); ++i) EXPECT_NEAR(some.rate(ids[2 * i + 1]), fresh.rate(left[i]), 1e-9 * fresh.rate(left[i])) << "seed " << seed;
    }
}

// Runs until nothing is left; says when each owner's flow ended.
std::vector<double> run_out(Network& network, Queue& queue, std::size_t owners) {
    std::vector<double> ends(owners, -1);
    while (!queue.empty()) {
        const Event event = queue.pop();
        std::uint32_t owner = 0;
        if (event.kind == Event::Kind::flow_end && network.ended(event, owner)) ends[owner] = event.at;
        if (event.kind == Event::Kind::flow_stall) network.stalled(event);
        if (event.kind == Event::Kind::flow_wake) network.woken(event);
    }
    return ends;
}

TEST(Network, NoByteIsLostOrInvented) {
    // two share a link of 10; the second begins at 1 s: 10 bytes are gone by then, 20 + 15 are left of theirs
    Queue queue;
    Network network({{10, infinite, -1, -1}}, 0, Transport::tcp, no_overload(), 1, queue);
    Transfer first, second;
    first.bytes = 30;
    first.uses = {{0, 1, 1}};
    second.bytes = 15;
    second.uses = {{0, 1, 1}};
    network.begin({&first, 0}, 0);
    network.begin({&second, 1}, 1);
    const std::vector<double> ends = run_out(network, queue, 2);
    EXPECT_DOUBLE_EQ(ends[1], 4);    // 15 bytes at 5
    EXPECT_DOUBLE_EQ(ends[0], 4.5);  // 15 at 5, the last 5 at 10
}

TEST(Network, WhoStandsStillLeavesTheLinkToOthers) {
    Overload overload;
    overload.window_bytes = 100;
    overload.round_trip_s = 0;
    overload.rto_s = 50;
    overload.loss_scale = 1e6;  // whoever meets somebody loses
    Queue queue;
    Network network({{10, 150, -1, -1}}, 0, Transport::tcp, overload, 1, queue);
    Transfer transfer;
    transfer.bytes = 1000;
    transfer.window_bytes = 100;
    transfer.uses = {{0, 1, 1}};
    network.begin({&transfer, 0}, 0);
    network.begin({&transfer, 1}, 0);
    const std::vector<double> ends = run_out(network, queue, 2);
    EXPECT_EQ(network.timeouts(), 1u);
    // the link has work all the time unless the one that is left is the one that stands still
    EXPECT_GE(std::max(ends[0], ends[1]), 200);
    EXPECT_LE(std::max(ends[0], ends[1]), 250);
    EXPECT_LT(std::min(ends[0], ends[1]), 200);
}

// Of an all-to-all only the flow that lost waits for its time-out; a ring waits as a whole.
TEST(Network, FlowsApartGoOnBesideOneThatStandsStill) {
    Overload overload;
    overload.window_bytes = 100;
    overload.round_trip_s = 0;
    overload.rto_s = 500;
    overload.loss_scale = 1e6;
    for (const bool apart : {false, true}) {
        Queue queue;
        Network network({{10, 150, -1, -1}}, 0, Transport::tcp, overload, 1, queue);
        Transfer transfer;
        transfer.bytes = 1000;
        transfer.window_bytes = 100;
        transfer.apart = apart;
        transfer.uses = {{0, 4, 4}};
        network.begin({&transfer, 0}, 0);
        double end = 0, until = 0, stood = 0;
        while (!queue.empty()) {
            const Event event = queue.pop();
            std::uint32_t owner = 0;
            if (event.kind == Event::Kind::flow_stall) network.stalled(event), stood = event.at;
            if (event.kind == Event::Kind::flow_wake) network.woken(event);
            if (event.kind == Event::Kind::flow_end && network.ended(event, owner, until)) end = event.at;
        }
        EXPECT_EQ(network.timeouts(), 1u);
        EXPECT_DOUBLE_EQ(end, apart ? 400 : 900);
        EXPECT_DOUBLE_EQ(until, apart ? stood + 500 : 0);
    }
}

// The incast that the model's constants come from: rounds of N senders of 64 KB. 4 lose nothing.
TEST(Network, IncastTakesAsLongAsOnRealTcp) {
    constexpr double kilobytes = 64 * 1024, rate = 25e6;
    Overload overload;  // as shipped
    const auto round_ms = [&](std::uint32_t senders) {
        constexpr int rounds = 4000;
        double sum = 0;
        Queue queue;
        Network network({{rate, rate * overload.round_trip_s + kilobytes, -1, -1}}, 0, Transport::tcp, overload, 7, queue);
        Transfer transfer;
        transfer.bytes = kilobytes;
        transfer.window_bytes = overload.window_bytes;
        transfer.uses = {{0, 1, 1}};
        for (int round = 0; round < rounds; ++round) {
            const double begin = 1000.0 * round;
            for (std::uint32_t i = 0; i < senders; ++i) network.begin({&transfer, i}, begin);
            double last = 0;
            for (const double end : run_out(network, queue, senders)) last = std::max(last, end);
            sum += last - begin;
        }
        return 1e3 * sum / rounds;
    };
    EXPECT_NEAR(round_ms(4), 10.5, 0.1);
    EXPECT_NEAR(round_ms(8), 27.6, 0.15 * 27.6);
    EXPECT_NEAR(round_ms(16), 126, 0.15 * 126);
    EXPECT_NEAR(round_ms(24), 231, 0.15 * 231);
}

// Lossless: a full port slows those that pass the same switch to another port, and lets go when it has room again.
TEST(Network, APauseSpreadsToOthersOfTheSwitchAndEnds) {
    Overload overload;
    overload.pause_spread = 0.5;
    overload.window_bytes = 100;
    overload.round_trip_s = 0;
    Queue queue;
    // 0: into switch 0; 1 and 2: out of it
    Network network({{10, infinite, -1, 0}, {10, 100, 0, -1}, {10, 1000, 0, -1}}, 1, Transport::lossless, overload, 1, queue);
    Transfer victim, crowd;
    victim.bytes = 1e6;
    victim.window_bytes = 100;
    victim.uses = {{0, 1, 1}, {2, 1, 1}};
    crowd.bytes = 50;
    crowd.window_bytes = 100;
    crowd.uses = {{1, 4, 4}};
    const Network::Id id = network.begin({&victim, 0}, 0);
    EXPECT_DOUBLE_EQ(network.rate(id), 10);
    const Network::Id other = network.begin({&crowd, 1}, 0);
    EXPECT_DOUBLE_EQ(network.rate(id), 10 * (1 - 0.5 * (1 - 100.0 / 400)));
    network.withdraw(other, 1);
    EXPECT_DOUBLE_EQ(network.rate(id), 10);
}

}  // namespace
}  // namespace paced::simulation
