// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/node_file.h"

#include "policy/base/text.h"
#include "policy/io/hwloc_reader.h"
#include "policy/io/nccl_xml.h"
#include "policy/io/nvidia_smi.h"
#include "policy/io/snapshot.h"
#include "policy/io/text_file.h"

namespace paced::io {

namespace {

constexpr char known_formats[] = "read are hwloc XML (`lstopo node.xml`), NCCL XML, `nvidia-smi topo -m` and our snapshots";

void refuse(const std::string& path, std::string message, Diagnostics& diagnostics) {
    diagnostics.error({path, 0, 0}, std::move(message)).hints.push_back(known_formats);
}

}  // namespace

NodeFormat recognise_node_format(std::string_view text) {
    const std::string_view start = trim(text.substr(0, 1 << 16));
    if (start.starts_with('{')) return NodeFormat::snapshot;
    if (start.starts_with('<')) {
        if (start.find("<system") != std::string_view::npos && start.find("<topology") == std::string_view::npos)
            return NodeFormat::nccl_xml;
        return NodeFormat::hwloc_xml;  // or some other XML, which its reader will refuse
    }
    // The head line of `nvidia-smi topo -m` names the devices, "GPU0  GPU1 ... NIC0 ... CPU Affinity".
    if (looks_like_nvidia_smi(start)) return NodeFormat::nvidia_smi;
    return NodeFormat::unknown;
}

std::optional<topology::NodeTopology> read_node_file(const std::string& path, Diagnostics& diagnostics) {
    const auto text = read_text_file(path);
    if (!text) {
        diagnostics.error({}, text.error().message);
        return std::nullopt;
    }
    if (trim(*text).empty()) {
        refuse(path, "the file is empty", diagnostics);
        return std::nullopt;
    }
    switch (recognise_node_format(*text)) {
        case NodeFormat::hwloc_xml:
            return parse_hwloc_xml(*text, path, diagnostics);
        case NodeFormat::snapshot: {
            auto node = read_snapshot(*text);
            if (node) return std::move(*node);
            refuse(path, "not a usable snapshot: " + node.error().message, diagnostics);
            break;
        }
        case NodeFormat::nccl_xml:
            return parse_nccl_xml(*text, path, diagnostics);
        case NodeFormat::nvidia_smi:
            return parse_nvidia_smi(*text, path, diagnostics);
        case NodeFormat::unknown:
            refuse(path, "not a format that describes a node", diagnostics);
            break;
    }
    return std::nullopt;
}

}  // namespace paced::io
