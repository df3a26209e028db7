// SPDX-License-Identifier: BSD-3-Clause
// Which rule of the arbiter (PermitRule) is best, on a model of one bottleneck: groups of two ranks that compute, then call; a call
// has a beginning and an end that do not use the link (rendezvous, the way of the last bytes), and between them the link is shared. No
// queue overflows in it: what the rules cost is seen, not what they gain. Times in ms. The defaults are the testbed's: 128 KiB over 100 Mbit/s.
//
// rules [WIRE [BEGINNING [END [LATENCY [SKEW [SPREAD]]]]]]
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "policy/pacing/permits.h"

using paced::pacing::PermitRule;
using paced::pacing::Permits;

namespace {

struct Model {
    double wire = 10.9, beginning = 1.2, end = 0.6;
    double latency = 0.05;  // of a datagram with the wake-up of who gets it; half of it fixed, half exponential
    double skew = 1.0;      // between the members' arrivals: standard deviation
    double spread = 0;      // how much later than the call's end a member leaves it: mean, exponential (a crowded node)
    int groups = 4;
    double compute = 10;
};

struct Result {
    double mean = 0, busy = 0, overlap = 0;
};

// Steps of 10 us; the arbiter is the real one.
Result run(const Model& model, const PermitRule* rule, std::uint64_t seed) {
    constexpr double step = 0.01;
    constexpr int members = 2, iterations = 400;
    enum class Phase { computing, asking, entering, wire, ending, over };
    struct Group {
        Phase phase = Phase::computing;
        double arrives[members] = {}, asks[members] = {}, entered[members] = {}, tells[members] = {};
        bool asked[members] = {}, told[members] = {};
        double left = 0, began = 0;
        std::uint64_t sequence = 0;
        double done[members] = {};
        std::uint64_t done_sequence = 0;
        bool to_tell[members] = {};
    };
    std::mt19937_64 random(seed);
    const auto late = [&] { return model.latency / 2 + std::exponential_distribution<double>(2 / model.latency)(random); };
    const auto spread = [&] { return model.spread > 0 ? std::exponential_distribution<double>(1 / model.spread)(random) : 0; };
    const auto skewed = [&] { return std::normal_distribution<double>(0, model.skew)(random); };
    std::vector<Group> groups(static_cast<std::size_t>(model.groups));
    Permits permits;
    if (rule != nullptr) permits.set(0, *rule);
    const auto begin = [&](Group& group, double now, const double (&left)[members]) {
        group.phase = Phase::computing;
        group.began = now;
        for (int m = 0; m < members; ++m) {
            const double compute = model.compute + skewed();
            group.arrives[m] = left[m] + (compute > 0 ? compute : 0);
            group.asks[m] = group.arrives[m] + late();
            group.asked[m] = group.told[m] = false;
            group.entered[m] = 1e18;
        }
    };
    for (Group& group : groups) begin(group, 0, {0, 0});
    Result result;
    double calls = 0, steps = 0;
    for (double now = 0; calls < iterations * model.groups; now += step, ++steps) {
        const auto ns = static_cast<std::uint64_t>(now * 1e6);
        int sharing = 0;
        for (Group& group : groups) sharing += group.phase == Phase::wire ? 1 : 0;
        result.busy += sharing > 0 ? 1 : 0;
        result.overlap += sharing > 1 ? 1 : 0;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            Group& group = groups[g];
            for (int m = 0; m < members; ++m) {
                if (group.to_tell[m] && now >= group.done[m]) permits.done(g + 1, 1u << m, group.done_sequence, ns), group.to_tell[m] = false;
                if (rule == nullptr && group.phase == Phase::computing && now >= group.arrives[m]) group.entered[m] = group.arrives[m];
                if (rule != nullptr && group.phase == Phase::computing && !group.asked[m] && now >= group.asks[m]) permits.request(0, g + 1, members, 1u << m, group.sequence, ns), group.asked[m] = true;
            }
            if (group.phase == Phase::computing && now >= group.entered[0] && now >= group.entered[1]) group.phase = Phase::entering, group.left = model.beginning;
            else if (group.phase == Phase::entering && (group.left -= step) <= 0) group.phase = Phase::wire, group.left = model.wire;
            else if (group.phase == Phase::wire && (group.left -= step / (sharing > 0 ? sharing : 1)) <= 0) group.phase = Phase::ending, group.left = model.end;
            else if (group.phase == Phase::ending && (group.left -= step) <= 0) {
                ++calls;
                result.mean += now - group.began;
                double left[members];
                for (int m = 0; m < members; ++m) left[m] = now + spread(), group.done[m] = left[m] + late(), group.to_tell[m] = rule != nullptr;
                group.done_sequence = group.sequence++;
                begin(group, now, left);
            }
        }
        if (rule == nullptr) continue;
        permits.tick(ns);
        for (Permits::Grant grant; permits.next(grant);)
            for (int m = 0; m < members; ++m)
                if ((grant.members >> m & 1) != 0) {
                    Group& group = groups[grant.communicator - 1];
                    if (group.sequence == grant.sequence) group.entered[m] = now + late();
                }
    }
    result.mean /= calls;
    result.busy *= 100 / steps;
    result.overlap *= 100 / steps;
    return result;
}

void print(const char* name, const Model& model, const PermitRule* rule) {
    const Result result = run(model, rule, 1);
    std::printf("%-44s iteration %6.2f   link busy %5.1f %%   shared %5.1f %%\n", name, result.mean, result.busy, result.overlap);
}

}  // namespace

int main(int argc, char** argv) {
    Model model;
    double* const fields[] = {&model.wire, &model.beginning, &model.end, &model.latency, &model.skew, &model.spread};
    for (int i = 1; i < argc && i <= 6; ++i) *fields[i - 1] = std::atof(argv[i]);
    print("off", model, nullptr);
    for (const std::uint32_t width : {1u, 2u}) {
        for (const bool first_request : {false, true})
            for (const bool first_done : {false, true}) {
                PermitRule rule;
                rule.width = width;
                rule.on_first_request = first_request;
                rule.on_first_done = first_done;
                rule.lead_percent = 0;
                char name[64];
                std::snprintf(name, sizeof name, "W=%u, granted to %s, released by %s", width, first_request ? "first" : "all", first_done ? "first" : "all");
                print(name, model, &rule);
            }
        for (const bool first_done : {false, true})
            for (const std::uint32_t lead : {5u, 10u, 15u, 20u, 30u}) {
                PermitRule rule;
                rule.width = width;
                rule.on_first_done = first_done;
                rule.lead_percent = lead;
                char name[64];
                std::snprintf(name, sizeof name, "W=%u, all, %s, passed on %u %% early", width, first_done ? "first" : "all", lead);
                print(name, model, &rule);
            }
    }
    return 0;
}
