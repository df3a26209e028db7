// SPDX-License-Identifier: BSD-3-Clause
// The rank order of large jobs with 8 ranks a node, on a fat tree of three levels: leaves of 20 hosts, spines of 20 leaves, one
// core. Hosts are submitted in an irregular order, the hardest case. Target: each pattern under 0.5 s and 200 MB for 10,000
// hosts, reading topology.conf included. `run` beside this file prints the growth with the number of hosts.
#include <algorithm>
#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>

#include "policy/io/fabric_file.h"
#include "policy/io/topology_conf.h"
#include "policy/placement/rank_order.h"
#include "policy/topology/host_list.h"
#include "tests/doubles/paths.h"

namespace {

using namespace paced;

constexpr int tasks_per_node = 8;

std::string fat_tree(int hosts) {
    std::string text;
    const int leaves = (hosts + 19) / 20, spines = (leaves + 19) / 20;
    for (int leaf = 0; leaf < leaves; ++leaf)
        text += "SwitchName=leaf" + std::to_string(leaf) + " Nodes=n[" + std::to_string(leaf * 20) + '-' + std::to_string(leaf * 20 + 19) +
                "]\n";
    for (int spine = 0; spine < spines; ++spine)
        text += "SwitchName=spine" + std::to_string(spine) + " Switches=leaf[" + std::to_string(spine * 20) + '-' +
                std::to_string(std::min(leaves, spine * 20 + 20) - 1) + "]\n";
    return text + "SwitchName=core Switches=spine[0-" + std::to_string(spines - 1) + "]\n";
}

// A fixed irregular order.
std::vector<std::string> irregular(std::vector<std::string> hosts) {
    unsigned long long state = 1;
    for (std::size_t i = hosts.size(); i > 1; --i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        std::swap(hosts[i - 1], hosts[(state >> 33) % i]);
    }
    return hosts;
}

void plan(benchmark::State& state, const std::string& pattern) {
    const auto count = static_cast<int>(state.range(0));
    const std::string text = fat_tree(count);
    const auto hosts = irregular(topology::expand_hosts("n[0-" + std::to_string(count - 1) + ']').hosts);
    const auto order = config::parse_order(pattern == "grid" ? "tp=8,pp=10,dp=" + std::to_string(count / 10) : pattern);
    placement::RankOrder result;
    for (auto _ : state) {
        Diagnostics diagnostics;
        const auto fabric = io::parse_topology_conf(text, "topology.conf", diagnostics);
        if (!fabric || !order) std::abort();
        result = placement::rank_order(*fabric, hosts, tasks_per_node, *order);
    }
    if (result.levels.empty()) std::abort();
    state.counters["chosen"] = static_cast<double>(result.levels.back().chosen);
    state.counters["submitted"] = static_cast<double>(result.levels.back().submitted);
    state.counters["bound"] = static_cast<double>(result.levels.back().lower_bound);
    state.SetComplexityN(state.range(0));
}
#define PLAN(pattern) \
    BENCHMARK_CAPTURE(plan, pattern, #pattern)->Arg(100)->Arg(300)->Arg(1000)->Arg(3000)->Arg(10'000)->Unit(benchmark::kMillisecond)
PLAN(ring);
PLAN(tree);
PLAN(alltoall);
PLAN(grid);

// Target: under 0.3 s for reading 666 switches and planning a ring over all their hosts.
void read_and_plan_ibnetdiscover(benchmark::State& state) {
    const auto file = test::others_data("slurm-topology/ibnetdiscover/superpod-selene-compute.txt");
    if (!file) {
        state.SkipWithError("slurm-topology/ibnetdiscover/superpod-selene-compute.txt is not there");
        return;
    }
    const auto ring = config::parse_order("ring");
    for (auto _ : state) {
        Diagnostics diagnostics;
        const auto fabric = io::read_fabric_file(file->string(), diagnostics);
        if (!fabric) {
            state.SkipWithError("ibnetdiscover's output is not read by this version");
            return;
        }
        std::vector<std::string> hosts;
        for (const auto& each : fabric->switches()) hosts.insert(hosts.end(), each.hosts.begin(), each.hosts.end());
        const auto order = placement::rank_order(*fabric, irregular(std::move(hosts)), tasks_per_node, *ring);
        state.counters["hosts"] = static_cast<double>(order.hosts.size());
        state.counters["switches"] = static_cast<double>(fabric->switches().size());
    }
}
BENCHMARK(read_and_plan_ibnetdiscover)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
