// SPDX-License-Identifier: BSD-3-Clause
// What the plugin's helper pays for in every step: reading a snapshot and topology.conf, and making the tables of both.
// The helper may use 4 ms of CPU in all.
#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>

#include "policy/io/node_file.h"
#include "policy/io/snapshot.h"
#include "policy/io/topology_conf.h"
#include "policy/placement/binding.h"
#include "policy/placement/fabric_summary.h"
#include "policy/topology/host_list.h"

namespace {

using namespace paced;

topology::NodeTopology node_of(const char* name) {
    Diagnostics diagnostics;
    auto node = io::read_node_file(std::string(PACED_FABRIC_SOURCE_DIR "/tests/data/topology/") + name, diagnostics);
    if (!node) std::abort();
    return *node;
}

// The node, but with this many CPUs: two packages of two threads a core.
topology::NodeTopology with_cpus(topology::NodeTopology node, int cpus) {
    const int half = cpus / 4;
    const auto package = [&](int index) {
        auto set = topology::CpuSet::range(index * half, (index + 1) * half - 1);
        set.add_range(2 * half + index * half, 2 * half + (index + 1) * half - 1);
        return set;
    };
    node.cpus = topology::CpuSet::range(0, cpus - 1);
    node.pus.clear();
    for (int cpu = 0; cpu < cpus; ++cpu) node.pus.push_back({.cpu = cpu, .core = cpu % (cpus / 2)});
    for (int i : {0, 1})
        node.packages.at(static_cast<std::size_t>(i)).cpus = node.numa_nodes.at(static_cast<std::size_t>(i)).cpus = package(i);
    return node;
}

void read_snapshot_of_8_gpus(benchmark::State& state) {
    const std::string text = io::write_snapshot(with_cpus(node_of("fake-8gpu-4nic.xml"), static_cast<int>(state.range(0))));
    for (auto _ : state) benchmark::DoNotOptimize(io::read_snapshot(text));
    state.counters["bytes"] = static_cast<double>(text.size());
}
BENCHMARK(read_snapshot_of_8_gpus)->ArgName("cpus")->Arg(32)->Arg(256)->Unit(benchmark::kMicrosecond);

void binding_of_8_gpus(benchmark::State& state) {
    const auto node = with_cpus(node_of("fake-8gpu-4nic.xml"), 256);
    for (auto _ : state) benchmark::DoNotOptimize(placement::bind_tasks(node));
}
BENCHMARK(binding_of_8_gpus)->Unit(benchmark::kMicrosecond);

// Leaves of 20 hosts under groups of 20 leaves under one root.
std::string topology_conf_of(int hosts) {
    std::string text;
    const int leaves = (hosts + 19) / 20, groups = (leaves + 19) / 20;
    for (int leaf = 0; leaf < leaves; ++leaf)
        text += "SwitchName=leaf" + std::to_string(leaf) + " Nodes=n[" + std::to_string(leaf * 20) + '-' + std::to_string(leaf * 20 + 19) +
                "]\n";
    for (int group = 0; group < groups; ++group)
        text += "SwitchName=group" + std::to_string(group) + " Switches=leaf[" + std::to_string(group * 20) + '-' +
                std::to_string(std::min(leaves, group * 20 + 20) - 1) + "]\n";
    return text + "SwitchName=root Switches=group[0-" + std::to_string(groups - 1) + "]\n";
}

void read_topology_conf(benchmark::State& state) {
    const std::string text = topology_conf_of(static_cast<int>(state.range(0)));
    for (auto _ : state) {
        Diagnostics diagnostics;
        auto fabric = io::parse_topology_conf(text, "topology.conf", diagnostics);
        if (!fabric) std::abort();
        benchmark::DoNotOptimize(fabric);
    }
    state.SetComplexityN(state.range(0));
}
BENCHMARK(read_topology_conf)->RangeMultiplier(10)->Range(100, 10'000)->Unit(benchmark::kMicrosecond)->Complexity();

void summary_of_hosts(benchmark::State& state) {
    const auto count = static_cast<int>(state.range(0));
    Diagnostics diagnostics;
    const auto fabric = io::parse_topology_conf(topology_conf_of(count), "topology.conf", diagnostics);
    const auto hosts = topology::expand_hosts("n[0-" + std::to_string(count - 1) + ']').hosts;
    for (auto _ : state) benchmark::DoNotOptimize(placement::fabric_summary(*fabric, hosts));
    state.SetComplexityN(state.range(0));
}
BENCHMARK(summary_of_hosts)->RangeMultiplier(10)->Range(100, 10'000)->Unit(benchmark::kMicrosecond)->Complexity();

}  // namespace

BENCHMARK_MAIN();
