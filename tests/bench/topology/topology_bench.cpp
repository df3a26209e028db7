// SPDX-License-Identifier: BSD-3-Clause
// What the plugin's helper pays for in every step: reading a snapshot and topology.conf, and making the tables of both.
// The helper may use 4 ms of CPU in all.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>

#include "policy/io/fabric_file.h"
#include "policy/io/node_file.h"
#include "policy/io/snapshot.h"
#include "policy/io/text_file.h"
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

// A fabric of rails: pods of 20 groups of 20 hosts with 8 adapters each, a leaf and 20 spines a rail in each pod, cores
// above; as ibnetdiscover prints it.
std::string ibnetdiscover_of(int hosts) {
    constexpr int rails = 8, per_leaf = 20, leaves_of_pod = 20, spines = 20;
    const int groups = (hosts + per_leaf - 1) / per_leaf, pods = (groups + leaves_of_pod - 1) / leaves_of_pod;
    const auto guid = [](int kind, int number) {
        char text[17];
        std::snprintf(text, sizeof text, "%04x%012x", kind, number);
        return std::string(text);
    };
    const auto leaf = [&](int group, int rail) { return guid(1, group * rails + rail); };
    const auto spine = [&](int pod, int rail, int number) { return guid(2, (pod * rails + rail) * spines + number); };
    std::string text = "#\n# Topology file: generated for a benchmark\n";
    const auto head = [&](const std::string& id, const std::string& name) {
        text += "\nvendid=0x2c9\ndevid=0xd2f0\nswitchguid=0x" + id + "\nSwitch\t41 \"S-" + id + "\"\t\t# \"MF0;" + name +
                ":MQM8700/U1\" enhanced port 0 lid 1 lmc 0\n";
    };
    const auto port = [&](int number, char kind, const std::string& id, const std::string& name) {
        text += '[' + std::to_string(number) + "]\t\"" + kind + '-' + id + "\"[1]\t\t# \"" + name + "\" lid 7 4xHDR\n";
    };
    for (int group = 0; group < groups; ++group)
        for (int rail = 0; rail < rails; ++rail) {
            head(leaf(group, rail), "leaf" + std::to_string(group) + '-' + std::to_string(rail));
            for (int host = group * per_leaf; host < std::min(hosts, (group + 1) * per_leaf); ++host)
                port(host % per_leaf + 1, 'H', guid(3, host * rails + rail), "n" + std::to_string(host) + " mlx5_" + std::to_string(rail));
            for (int number = 0; number < spines; ++number) port(21 + number, 'S', spine(group / leaves_of_pod, rail, number), "spine");
        }
    for (int pod = 0; pod < pods; ++pod)
        for (int rail = 0; rail < rails; ++rail)
            for (int number = 0; number < spines; ++number) {
                head(spine(pod, rail, number), "spine" + std::to_string(pod) + '-' + std::to_string(rail) + '-' + std::to_string(number));
                for (int core = 0; core < 20; ++core) port(core + 1, 'S', guid(4, core), "core" + std::to_string(core));
            }
    for (int host = 0; host < hosts; ++host)
        for (int rail = 0; rail < rails; ++rail) {
            const std::string id = guid(3, host * rails + rail);
            text += "\nvendid=0x2c9\ndevid=0x101b\ncaguid=0x" + id + "\nCa\t1 \"H-" + id + "\"\t\t# \"n" + std::to_string(host) + " mlx5_" +
                    std::to_string(rail) + "\"\n";
            port(1, 'S', leaf(host / per_leaf, rail), "leaf");
        }
    return text;
}

void parse_or_stop(benchmark::State& state, const std::string& text) {
    for (auto _ : state) {
        Diagnostics diagnostics;
        auto fabric = io::parse_fabric(text, "fabric", diagnostics);
        if (!fabric) std::abort();
        benchmark::DoNotOptimize(fabric);
    }
    state.counters["MB"] = static_cast<double>(text.size()) / 1e6;
}

void read_ibnetdiscover(benchmark::State& state) {
    parse_or_stop(state, ibnetdiscover_of(static_cast<int>(state.range(0))));
    state.SetComplexityN(state.range(0));
}
BENCHMARK(read_ibnetdiscover)->RangeMultiplier(10)->Range(100, 10'000)->Unit(benchmark::kMillisecond)->Complexity();

// Others' file; left out where it is missing.
void read_superpod_of_666_switches(benchmark::State& state) {
    const char* root = std::getenv("PACED_FABRIC_TEST_DATA");
    const std::string path =
        std::string(root != nullptr ? root : PACED_FABRIC_TEST_DATA) + "/slurm-topology/ibnetdiscover/superpod-selene-compute.txt";
    const auto text = io::read_text_file(path);
    if (!text) return state.SkipWithError((path + " is not there").c_str());
    parse_or_stop(state, *text);
}
BENCHMARK(read_superpod_of_666_switches)->Unit(benchmark::kMillisecond);

void read_topology_yaml(benchmark::State& state) {
    const auto hosts = static_cast<int>(state.range(0));
    std::string text = "- topology: t\n  tree:\n    switches:\n";
    for (int leaf = 0; leaf < hosts / 20; ++leaf)
        text += "      - switch: leaf" + std::to_string(leaf) + "\n        nodes: n[" + std::to_string(leaf * 20) + '-' +
                std::to_string(leaf * 20 + 19) + "]\n";
    text += "      - switch: root\n        children: leaf[0-" + std::to_string(hosts / 20 - 1) + "]\n";
    parse_or_stop(state, text);
    state.SetComplexityN(state.range(0));
}
BENCHMARK(read_topology_yaml)->RangeMultiplier(10)->Range(100, 10'000)->Unit(benchmark::kMillisecond)->Complexity();

}  // namespace

BENCHMARK_MAIN();
