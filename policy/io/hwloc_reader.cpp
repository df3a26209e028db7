// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/hwloc_reader.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <hwloc.h>

#include "policy/io/hwloc_walk.h"
#include "policy/io/sysfs_devices.h"
#include "policy/io/xml_check.h"

namespace paced::io {

namespace {

struct Destroy {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Handle = std::unique_ptr<hwloc_topology, Destroy>;

// A topology that will show the whole node. Null: hwloc itself failed.
Handle new_topology() {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) return nullptr;
    Handle topology(raw);
    hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    // Every PCI device, since hwloc's notion of an important one differs from version to version; bridges where they lead somewhere.
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_type_filter(raw, HWLOC_OBJ_BRIDGE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    hwloc_topology_set_type_filter(raw, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_NONE);
    return topology;
}

// While it lives, the environment holds nothing through which hwloc would look at another machine than it is asked to,
// or load plugins; afterwards it is as it was, since a program may start others.
class HwlocEnvironment {
public:
    explicit HwlocEnvironment(bool with_plugins) {
        for (const char* name : names) {
            const char* value = std::getenv(name);
            saved_.push_back(value == nullptr ? std::nullopt : std::optional<std::string>(value));
            unsetenv(name);
        }
        if (with_plugins) return;
        setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
        // A library built with these inside instead of as plugins: named, so that they are not asked.
        setenv("HWLOC_COMPONENTS", "-cuda,-nvml,-opencl,-rsmi,-levelzero,-gl", 1);
    }
    HwlocEnvironment(const HwlocEnvironment&) = delete;
    HwlocEnvironment& operator=(const HwlocEnvironment&) = delete;
    ~HwlocEnvironment() {
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (saved_[i])
                setenv(names[i], saved_[i]->c_str(), 1);
            else
                unsetenv(names[i]);
        }
    }

private:
    static constexpr std::array names{"HWLOC_XMLFILE",           "HWLOC_SYNTHETIC",  "HWLOC_FSROOT",       "HWLOC_CPUID_PATH",
                                      "HWLOC_THISSYSTEM",        "HWLOC_COMPONENTS", "HWLOC_PLUGINS_PATH", "HWLOC_PLUGINS_BLACKLIST",
                                      "HWLOC_DUMPED_HWDATA_DIR", "HWLOC_ALLOW"};
    std::vector<std::optional<std::string>> saved_;
};

}  // namespace

std::string hwloc_version() {
    const unsigned version = hwloc_get_api_version();
    return "hwloc API " + std::to_string(version >> 16) + '.' + std::to_string(version >> 8 & 0xff) + '.' + std::to_string(version & 0xff);
}

Result<topology::NodeTopology> read_this_machine(const LiveOptions& options) {
    const HwlocEnvironment environment(options.with_plugins);
    const Handle handle = new_topology();
    if (!handle || hwloc_topology_load(handle.get()) != 0)
        return fail(std::string("hwloc cannot read this machine: ") + std::strerror(errno));
    topology::NodeTopology node = walk_hwloc(handle.get());
    add_sysfs_facts(node, "/");
    node.origin = "this machine";
    return node;
}

std::optional<topology::NodeTopology> parse_hwloc_xml(const std::string& text, const std::string& file, Diagnostics& diagnostics) {
    const auto version = check_hwloc_xml(text, file, diagnostics);
    if (!version) return std::nullopt;
    const HwlocEnvironment environment(false);
    const Handle handle = new_topology();
    // The size counts the closing NUL.
    if (!handle || hwloc_topology_set_xmlbuffer(handle.get(), text.c_str(), static_cast<int>(text.size() + 1)) != 0 ||
        hwloc_topology_load(handle.get()) != 0) {
        diagnostics.error({file, 0, 0}, hwloc_version() + " cannot load this XML")
            .hints.push_back("`lstopo -i " + file + "` with HWLOC_XML_VERBOSE=1 says more");
        return std::nullopt;
    }
    topology::NodeTopology node = walk_hwloc(handle.get());
    node.origin = "hwloc XML " + *version + ' ' + file;
    return node;
}

}  // namespace paced::io
