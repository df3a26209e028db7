// SPDX-License-Identifier: BSD-3-Clause
// Against queueing theory, where it has an answer: one link, work that comes at random (Poisson), each piece of the same size.
#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "policy/pacing/permits.h"
#include "policy/simulation/network.h"

namespace paced::simulation {
namespace {

constexpr double service_s = 0.01;

// Shared fairly (processor sharing): mean time in the system D / (1 - load), whatever the distribution of sizes (Kleinrock 1976).
TEST(Queueing, AFairlySharedLinkIsAnMD1WithProcessorSharing) {
    for (const double load : {0.3, 0.6, 0.8}) {
        constexpr std::uint32_t count = 400000;
        Queue queue;
        Overload overload;
        overload.on = false;
        Network network({{1, std::numeric_limits<double>::infinity(), -1, -1}}, 0, Transport::tcp, overload, 1, queue);
        Transfer transfer;
        transfer.bytes = service_s;
        transfer.uses = {{0, 1, 1}};
        Draws draws(11);
        std::vector<double> came(count);
        double at = 0, sum = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            came[i] = at += draws.exponential(service_s / load);
            queue.push(at, Event::Kind::transfer, i);
        }
        std::uint32_t ended = 0;
        while (!queue.empty()) {
            const Event event = queue.pop();
            std::uint32_t owner = 0;
            if (event.kind == Event::Kind::transfer) network.begin({&transfer, event.subject}, event.at);
            if (event.kind != Event::Kind::flow_end || !network.ended(event, owner)) continue;
            sum += event.at - came[owner];
            ++ended;
        }
        ASSERT_EQ(ended, count);
        const double expected = service_s / (1 - load);
        EXPECT_NEAR(sum / count, expected, 0.05 * expected) << "load " << load;
    }
}

// One at a time in the order of asking: mean wait load * D / (2 (1 - load)) (Pollaczek, Khinchine).
TEST(Queueing, PermitsOfWidthOneAreAnMD1) {
    for (const double load : {0.3, 0.6, 0.8}) {
        constexpr std::uint32_t count = 400000, names = 250;
        auto permits = std::make_unique<pacing::Permits>();
        permits->set(0, {.width = 1});
        Draws draws(5);
        struct Done {
            std::uint64_t name, sequence;
        };
        std::vector<double> came(count);
        double at = 0, sum = 0, done_at = 0;
        bool busy = false;
        Done running{};
        std::uint32_t granted = 0;
        const auto take_grants = [&](double now) {
            pacing::Permits::Grant grant;
            while (permits->next(grant)) {
                const auto call = static_cast<std::uint32_t>(grant.sequence * names + grant.communicator - 1);
                sum += now - came[call];
                ++granted;
                busy = true;
                running = {grant.communicator, grant.sequence};
                done_at = now + service_s;
            }
        };
        const auto ns = [](double seconds) { return static_cast<std::uint64_t>(seconds * 1e9); };
        for (std::uint32_t i = 0; i < count; ++i) {
            came[i] = at += draws.exponential(service_s / load);
            while (busy && done_at <= at) {
                busy = false;
                const double now = done_at;
                permits->done(running.name, 1, running.sequence, ns(now));
                take_grants(now);
            }
            ASSERT_TRUE(permits->request(0, i % names + 1, 1, 1, i / names, ns(at)));
            take_grants(at);
        }
        ASSERT_GT(granted, count - names);
        const double expected = load * service_s / (2 * (1 - load));
        EXPECT_NEAR(sum / granted, expected, 0.05 * expected) << "load " << load;
    }
}

}  // namespace
}  // namespace paced::simulation
