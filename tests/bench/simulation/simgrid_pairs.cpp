// SPDX-License-Identifier: BSD-3-Clause
// The same ring all-reduce in our simulator and in SimGrid, one process, one core each: the simulated time of both, and how long they took. SimGrid
// is given plain max-min sharing (CM02 without its TCP factors) and plays every message of every step; ranks take the same compute times.
//     bench_simgrid [ITERATIONS] [NODES]...     default: 20 iterations of 8, 16, 32 and 64 nodes
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

#include "policy/simulation/draws.h"
#include "policy/simulation/simulate.h"

namespace {

using namespace paced::simulation;
namespace s4u = simgrid::s4u;

constexpr double nic_bytes_s = 10e9, uplink_bytes_s = 20e9, hop_s = 6e-6, bytes = 100e6, mean_s = 0.05;

// Two leaves behind one uplink each; the ring goes from one to the other at every step (interleaved) or twice in all.
Scenario scenario_of(std::uint32_t nodes, std::uint32_t iterations, bool interleaved) {
    Scenario scenario;
    scenario.fabric.nodes = nodes;
    scenario.fabric.levels = {Level{.name = "leaf", .below = nodes / 2, .uplinks = 1, .uplink_bytes_s = uplink_bytes_s, .latency_s = 0}, Level{.name = "top", .below = 2, .latency_s = 0}};
    scenario.fabric.overload.on = false;
    scenario.node.gpus = scenario.node.ranks = scenario.node.nics = 1;
    scenario.node.nic_bytes_s = nic_bytes_s;
    scenario.node.nic_latency_s = hop_s;
    scenario.placement = interleaved ? Placement::interleaved : Placement::block;
    scenario.work.traffic = {Traffic{}};
    scenario.work.traffic[0].bytes = bytes;
    Replay replay;
    replay.ranks = nodes;
    Draws draws(1);
    const Lognormal noise(0.03);
    for (std::uint32_t i = 0; i < iterations * nodes; ++i) replay.compute_s.push_back(static_cast<float>(mean_s) * noise(draws.bits()));
    scenario.compute.replay = replay;
    scenario.node_counts = {nodes};
    scenario.iterations = iterations;
    scenario.warmup = 0;
    return scenario;
}

double since(std::chrono::steady_clock::time_point begin) { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); }

struct Took {
    double simulated_s = 0, wall_s = 0;
};

Took in_ours(const Scenario& scenario) {
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = simulate(scenario, {Case::baseline, scenario.node_counts[0], 1});
    return {outcome.seconds, since(begin)};
}

Took in_simgrid(s4u::Engine& engine, const Scenario& scenario, bool interleaved) {
    const std::uint32_t n = scenario.node_counts[0];
    auto* const zone = s4u::create_full_zone("fabric");
    std::vector<s4u::Host*> hosts;
    std::vector<s4u::Link*> out, in, up, down;
    const auto link = [&](const std::string& name, double bytes_s, double latency_s) { return zone->create_link(name, bytes_s)->set_latency(latency_s)->seal(); };
    for (std::uint32_t i = 0; i < n; ++i) {
        hosts.push_back(zone->create_host("n" + std::to_string(i), 1e9)->seal());
        out.push_back(link("out" + std::to_string(i), nic_bytes_s, hop_s / 2));
        in.push_back(link("in" + std::to_string(i), nic_bytes_s, hop_s / 2));
    }
    for (int leaf = 0; leaf < 2; ++leaf) {
        up.push_back(link("up" + std::to_string(leaf), uplink_bytes_s, 0));
        down.push_back(link("down" + std::to_string(leaf), uplink_bytes_s, 0));
    }
    const auto leaf_of = [&](std::uint32_t i) { return interleaved ? i % 2 : i / (n / 2); };
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t j = (i + 1) % n;
        std::vector<s4u::LinkInRoute> route{s4u::LinkInRoute(out[i])};
        if (leaf_of(i) != leaf_of(j)) route.emplace_back(up[leaf_of(i)]), route.emplace_back(down[leaf_of(j)]);
        route.emplace_back(in[j]);
        zone->add_route(hosts[i]->get_netpoint(), hosts[j]->get_netpoint(), nullptr, nullptr, route, false);
    }
    zone->seal();
    const std::vector<float>& compute = scenario.compute.replay->compute_s;
    // which row the replay begins with is drawn by the seed; a sum over all of them is the same
    for (std::uint32_t rank = 0; rank < n; ++rank) {
        s4u::Actor::create("rank" + std::to_string(rank), hosts[rank], [rank, n, &compute, &scenario] {
            auto* const next = s4u::Mailbox::by_name("m" + std::to_string((rank + 1) % n));
            auto* const own = s4u::Mailbox::by_name("m" + std::to_string(rank));
            static int nothing;
            for (std::uint32_t iteration = 0; iteration < scenario.iterations; ++iteration) {
                s4u::this_actor::sleep_for(static_cast<double>(compute[iteration * n + rank]));
                for (std::uint32_t step = 0; step < 2 * (n - 1); ++step) {
                    int* got = nullptr;
                    auto receive = own->get_async<int>(&got);
                    auto send = next->put_async(&nothing, static_cast<std::uint64_t>(bytes / n));
                    send->wait();
                    receive->wait();
                }
            }
        });
    }
    const auto begin = std::chrono::steady_clock::now();
    engine.run();
    return {s4u::Engine::get_clock(), since(begin)};
}

// An engine for each process: SimGrid has one alone. So each row is a process of its own, called with its size.
int row(int argc, char** argv, std::uint32_t nodes, std::uint32_t iterations, bool interleaved) {
    s4u::Engine engine(&argc, argv);
    for (const char* const setting : {"network/model:CM02", "network/latency-factor:1", "network/bandwidth-factor:1", "network/weight-S:0", "network/TCP-gamma:0", "network/crosstraffic:0"})
        s4u::Engine::set_config(setting);
    const Scenario scenario = scenario_of(nodes, iterations, interleaved);
    if (!problems_of(scenario).empty()) return 1;
    const Took ours = in_ours(scenario), theirs = in_simgrid(engine, scenario, interleaved);
    std::printf("%5u  %-11s  %10.4f  %10.4f  %7.2f %%  %10.5f  %10.5f  %8.0f\n", nodes, interleaved ? "interleaved" : "in order", ours.simulated_s, theirs.simulated_s,
                100 * (ours.simulated_s / theirs.simulated_s - 1), ours.wall_s, theirs.wall_s, theirs.wall_s / ours.wall_s);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const auto number = [&](int i) { return static_cast<std::uint32_t>(std::atoi(argv[i])); };
    if (argc == 5 && std::string(argv[1]) == "row") return row(argc, argv, number(2), number(3), number(4) != 0);
    const std::uint32_t iterations = argc > 1 ? number(1) : 20;
    std::vector<std::uint32_t> sizes;
    for (int i = 2; i < argc; ++i) sizes.push_back(number(i));
    if (sizes.empty()) sizes = {8, 16, 32, 64};
    std::printf("%5s  %-11s  %10s  %10s  %9s  %10s  %10s  %8s\n", "nodes", "ring", "ours s", "SimGrid s", "error", "ours took", "SimGrid", "quicker");
    std::fflush(stdout);
    for (const std::uint32_t nodes : sizes) {
        for (const int interleaved : {0, 1}) {
            const std::string line = "'" + std::string(argv[0]) + "' row " + std::to_string(nodes) + ' ' + std::to_string(iterations) + ' ' + std::to_string(interleaved) + " 2>/dev/null";
            if (std::system(line.c_str()) != 0) return 1;
        }
    }
}
