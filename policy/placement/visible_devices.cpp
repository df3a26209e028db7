// SPDX-License-Identifier: BSD-3-Clause
// Slurm's list first, since its numbers mean one thing only; then the maker's variables, each read against what the one
// before has left.
#include "policy/placement/visible_devices.h"

#include <algorithm>
#include <utility>

#include "policy/base/text.h"
#include "policy/placement/binding/device_list.h"
#include "policy/placement/binding/near_nics.h"

namespace paced::placement {

namespace {

using namespace paced::topology;

using Gpus = std::vector<GpuIndex>;

Gpus gpus_of(const std::vector<DeviceEntry>& entries) {
    Gpus gpus;
    for (const DeviceEntry& entry : entries) gpus.push_back(entry.gpu);
    return gpus;
}

bool holds(const Gpus& gpus, GpuIndex gpu) { return std::find(gpus.begin(), gpus.end(), gpu) != gpus.end(); }

class Resolver {
public:
    Resolver(const NodeTopology& node, const Environment& environment) : node_(node), environment_(environment) {
        Gpus gpus;
        for (std::size_t i = 0; i < node.gpus.size(); ++i) gpus.push_back(static_cast<GpuIndex>(i));
        std::stable_sort(gpus.begin(), gpus.end(), [&](GpuIndex a, GpuIndex b) { return comes_before(node.gpu(a), node.gpu(b)); });
        for (GpuIndex gpu : gpus) {
            // A partitioned AMD GPU is that many devices to everybody; of MIG devices a process sees one alone, by its UUID.
            const int times = node.gpu(gpu).vendor == "AMD" ? std::max(1, node.gpu(gpu).partitions) : 1;
            all_.insert(all_.end(), static_cast<std::size_t>(times), gpu);
        }
    }

    VisibleDevices resolve(bool slurm_gives_gpus) {
        found_.gpus = all_;
        if (all_.empty()) return std::move(found_);
        const std::string& vendor = node_.gpus.front().vendor;
        const bool one_vendor = std::all_of(node_.gpus.begin(), node_.gpus.end(), [&](const Gpu& gpu) { return gpu.vendor == vendor; });
        read_slurm();
        if (vendor == "AMD") read_amd();
        else if (vendor == "Intel") read_intel();
        else read_nvidia();
        if (!one_vendor) doubt("the node has GPUs of several makers, which number theirs apart");
        if (slurm_gives_gpus && !given_) doubt("Slurm gave this step no GPU");
        // The tasks may see all of the node, or what Slurm gave alone: nothing tells which.
        if (slurm_ && found_.source.starts_with("SLURM_") && slurm_gpus_.size() < all_.size())
            doubt("no variable says whether tasks see all GPUs or those of " + found_.source + " alone");
        if (!found_.known()) {
            found_.gpus.clear();
            for (DeviceVariable& variable : found_.variables) variable.entries.clear();
        }
        return std::move(found_);
    }

private:
    void doubt(const std::string& reason) {
        if (found_.doubt.empty()) found_.doubt = reason;
    }

    void read_slurm() {
        for (const char* name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"}) {
            const auto value = environment_.get(name);
            if (!value || value->empty()) continue;
            given_ = true;
            if (split_into_mig()) return;  // its numbers count MIG devices or GPUs; CUDA's variable has their UUIDs
            const DeviceList list = read_device_list(node_, *value, all_);
            const std::string source = std::string(name) + '=' + *value;
            slurm_ = true;
            found_.source = source;
            if (!list.cut_at.empty()) return doubt(source + " names GPUs that this node does not have");
            if (!list.doubt.empty() || !list.numbers) return doubt(source + " is not understood" + (list.doubt.empty() ? "" : ": " + list.doubt));
            slurm_gpus_ = gpus_of(list.entries);
            // The job's list is no list of tasks' own.
            if (std::string_view(name) == "SLURM_STEP_GPUS") found_.variables.push_back({name, *value, list.entries});
            found_.gpus = slurm_gpus_;
            return;
        }
    }

    // What a variable leaves of the devices before it. first: the one that may count all of the node's devices, or those
    // that Slurm gave.
    void apply(const char* name, bool first, bool tiles = false) {
        const auto value = environment_.get(name);
        DeviceVariable variable{name, value, {}};
        if (value) {
            const std::string source = std::string(name) + '=' + *value;
            DeviceList list = read(*value, source, first, tiles);
            found_.source = source;
            if (list.doubt.empty() && found_.known()) {
                found_.gpus = gpus_of(list.entries);
                // Of several MIG devices a process sees the first alone; a task with one of its own is as good as any other.
                if (list.parts && list.entries.size() > 1) found_.no_position = source + ": CUDA shows a process the first of several MIG devices alone";
                // A number may count within what the task was given; Slurm's own list tells that.
                if (!list.numbers || !slurm_) variable.entries = std::move(list.entries);
            }
        }
        found_.variables.push_back(std::move(variable));
    }

    DeviceList read(const std::string& value, const std::string& source, bool first, bool tiles) {
        if (!first || !slurm_) {
            DeviceList list = read_device_list(node_, value, first ? all_ : found_.gpus, tiles);
            if (!list.doubt.empty()) doubt(source + ": " + list.doubt);
            if (!first && !list.cut_at.empty()) doubt(source + " names devices that " + found_.source + " has hidden");
            return list;
        }
        // Unconstrained, numbers count all GPUs and name some of Slurm's; constrained, they count Slurm's.
        DeviceList global = read_device_list(node_, value, all_, tiles), local = read_device_list(node_, value, slurm_gpus_, tiles);
        if (!global.doubt.empty() || (!global.numbers && !global.entries.empty())) {
            if (!global.doubt.empty()) doubt(source + ": " + global.doubt);
            return global;
        }
        if (global.entries.empty() && local.entries.empty()) return local;  // "", -1, NoDevFiles: no device
        const auto whole = [](const DeviceList& list) { return list.cut_at.empty() && !list.entries.empty(); };
        const bool global_fits = whole(global) && std::all_of(global.entries.begin(), global.entries.end(), [&](const DeviceEntry& entry) { return holds(slurm_gpus_, entry.gpu); });
        const bool local_fits = whole(local);
        if (global_fits && local_fits && gpus_of(global.entries) != gpus_of(local.entries))
            doubt(source + " can count all GPUs or those of " + slurm_source() + ", and means others each time");
        else if (!global_fits && !local_fits)
            doubt(source + " and " + slurm_source() + " do not fit together");
        return local_fits ? local : global;
    }

    std::string slurm_source() const {
        for (const char* name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"})
            if (const auto value = environment_.get(name); value && !value->empty()) return std::string(name) + '=' + *value;
        return "Slurm's list";
    }

    void read_nvidia() {
        const bool numbered = apply_reporting_numbers("CUDA_VISIBLE_DEVICES");
        const bool alike = std::all_of(node_.gpus.begin(), node_.gpus.end(), [&](const Gpu& gpu) { return gpu.name == node_.gpus.front().name; });
        if (numbered && !alike && environment_.get_or("CUDA_DEVICE_ORDER", "") != "PCI_BUS_ID")
            doubt("the node's GPUs differ, and CUDA numbers them by speed: CUDA_DEVICE_ORDER is not PCI_BUS_ID");
        if (split_into_mig() && numbered) doubt("GPUs are split into MIG devices, which numbers do not name");
    }

    bool split_into_mig() const {
        return std::any_of(node_.gpus.begin(), node_.gpus.end(), [](const Gpu& gpu) { return gpu.vendor == "NVIDIA" && gpu.partitions > 1; });
    }

    // Whether devices are told by number: the variable is one of numbers, or nothing is said at all.
    bool apply_reporting_numbers(const char* name) {
        const auto value = environment_.get(name);
        apply(name, true);
        return !value || read_device_list(node_, *value, all_).numbers;
    }

    void read_amd() {
        apply("ROCR_VISIBLE_DEVICES", true);
        const bool rocr = environment_.get("ROCR_VISIBLE_DEVICES").has_value();
        // HIP takes CUDA's variable where its own is not set.
        const char* const hip = environment_.get("HIP_VISIBLE_DEVICES") ? "HIP_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES";
        apply(hip, !rocr);
        const Gpus for_hip = found_.gpus;
        const auto ordinal = environment_.get("GPU_DEVICE_ORDINAL");
        if (!ordinal || !found_.known()) return;
        // OpenCL's. Slurm sets it to the same text; anything else means that OpenCL and HIP see different devices.
        for (const char* name : {"ROCR_VISIBLE_DEVICES", hip})
            if (environment_.get(name) == ordinal) return;
        doubt("GPU_DEVICE_ORDINAL=" + *ordinal + " shows OpenCL other devices than HIP");
    }

    void read_intel() {
        const auto value = environment_.get("ZE_AFFINITY_MASK");
        apply("ZE_AFFINITY_MASK", true, true);
        const bool tiles = std::any_of(node_.gpus.begin(), node_.gpus.end(), [](const Gpu& gpu) { return gpu.partitions > 1; });
        // Since 2024 drivers are flat by default: "1" is then the second tile of the first GPU.
        if (tiles && environment_.get_or("ZE_FLAT_DEVICE_HIERARCHY", "") != "COMPOSITE" && (!value || value->find('.') == std::string::npos))
            doubt("whether numbers mean GPUs or their tiles depends on the driver: ZE_FLAT_DEVICE_HIERARCHY is not COMPOSITE");
    }

    const NodeTopology& node_;
    const Environment& environment_;
    Gpus all_;  // in the order in which numbers count them
    Gpus slurm_gpus_;
    bool slurm_ = false;  // slurm_gpus_ is known
    bool given_ = false;  // Slurm gave GPUs
    VisibleDevices found_;
};

}  // namespace

VisibleDevices visible_devices(const NodeTopology& node, const Environment& environment, bool slurm_gives_gpus) {
    return Resolver(node, environment).resolve(slurm_gives_gpus);
}

}  // namespace paced::placement
