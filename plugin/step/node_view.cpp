// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/step/node_view.h"

#include <cerrno>
#include <cstring>

#include <unistd.h>

#include "plugin/step/child.h"
#include "policy/io/snapshot.h"
#include "policy/io/text_file.h"
#include "policy/placement/binding.h"
#include "policy/report/plan_views.h"

namespace paced::step {

namespace {

constexpr std::size_t snapshot_bytes_max = 8u << 20;
constexpr std::chrono::milliseconds probe_deadline{1000};  // the shim gives us 2 s in all

Result<topology::NodeTopology> from_snapshot(const std::string& path) {
    const Result<std::string> text = io::read_text_file(path, snapshot_bytes_max);
    if (!text) return fail(text.error().message);
    Result<topology::NodeTopology> node = io::read_snapshot(*text);
    if (!node) return fail(path + ": " + node.error().message);
    return node;
}

Result<topology::NodeTopology> from_probe(const NodeSources& sources) {
    if (sources.probe.empty()) return fail("there is no program paced-fabric-probe");
    std::vector<std::string> command{sources.probe};
    if (!sources.topology.empty()) {
        if (access(sources.topology.c_str(), R_OK) != 0) return fail("cannot read " + sources.topology + ": " + std::strerror(errno));
        command.push_back(sources.topology);
    }
    const Result<std::string> text = output_of(command, probe_deadline, snapshot_bytes_max);
    if (!text) return fail(text.error().message + (sources.topology.empty() ? "" : ": " + sources.topology));
    return io::read_snapshot(*text);
}

}  // namespace

Result<topology::NodeTopology> node_topology(const NodeSources& sources) {
    std::string tried;
    if (!sources.snapshot.empty()) {
        auto node = from_snapshot(sources.snapshot);
        if (node) return node;
        tried = node.error().message + "; ";
    }
    auto node = from_probe(sources);
    if (node) return node;
    return fail(tried + node.error().message);
}

Result<report::NodePlan> node_plan(const NodeSources& sources) {
    const auto node = node_topology(sources);
    if (!node) return fail(node.error().message);
    return report::node_view(*node, placement::bind_tasks(*node));
}

}  // namespace paced::step
