// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/sysfs_gpus.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/base/text.h"
#include "policy/io/sysfs_files.h"
#include "policy/io/text_file.h"

namespace paced::io {

namespace {

using namespace paced::topology;
using std::filesystem::path;

std::string amd_uuid_of(std::uint64_t id) {
    if (id == 0) return {};
    char text[32];
    std::snprintf(text, sizeof text, "GPU-%016" PRIx64, id);
    return text;
}

// --- NVIDIA

// "Model: \t\t NVIDIA H200" and so on, by key.
std::map<std::string, std::string, std::less<>> nvidia_information(const path& root, const PciAddress& address) {
    std::map<std::string, std::string, std::less<>> lines;
    const auto text = read_text_file((root / "proc/driver/nvidia/gpus" / to_string(address) / "information").string(), 1 << 16);
    if (!text) return lines;
    for (std::string_view line : split(*text, '\n'))
        if (const auto colon = line.find(':'); colon != std::string_view::npos)
            lines.emplace(trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
    return lines;
}

// One folder for each compute instance of each GPU instance: that is a MIG device.
int mig_devices(const path& root, std::string_view minor) {
    if (!parse_integer(minor)) return 0;
    const path mig = root / "proc/driver/nvidia/capabilities" / ("gpu" + std::string(minor)) / "mig";
    int devices = 0;
    for (const std::string& gpu_instance : entries(mig)) {
        if (!gpu_instance.starts_with("gi")) continue;
        const auto names = entries(mig / gpu_instance);
        devices +=
            static_cast<int>(std::count_if(names.begin(), names.end(), [](const std::string& name) { return name.starts_with("ci"); }));
    }
    return devices;
}

void add_nvidia(Gpu& gpu, const path& root) {
    const auto lines = nvidia_information(root, *gpu.place.pci);
    const auto value = [&](std::string_view key) {
        const auto found = lines.find(key);
        return found == lines.end() ? std::string() : found->second;
    };
    if (std::string name = value("Model"); !name.empty()) gpu.name = std::move(name);
    // "GPU-????????-..." before the device is initialised
    if (std::string uuid = value("GPU UUID"); uuid.starts_with("GPU-") && uuid.find('?') == std::string::npos) gpu.uuid = std::move(uuid);
    if (const int devices = mig_devices(root, value("Device Minor")); devices > 0 && devices != gpu.partitions) {
        gpu.partitions = devices;
        gpu.partition_uuids.clear();
    }
}

// --- AMD

// The UUIDs of the KFD nodes at each place (domain, bus and function), as far as they are told, in the order of the nodes.
using KfdNodes = std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::string>>;

KfdNodes read_kfd(const path& root) {
    const path folder = root / "sys/class/kfd/kfd/topology/nodes";
    std::vector<long long> numbers;
    for (const std::string& name : entries(folder))
        if (const auto number = parse_integer(name)) numbers.push_back(*number);
    std::sort(numbers.begin(), numbers.end());
    KfdNodes nodes;
    for (long long number : numbers) {
        const auto text = read_text_file((folder / std::to_string(number) / "properties").string(), 1 << 16);
        if (!text) continue;
        std::map<std::string, std::uint64_t, std::less<>> values;
        for (std::string_view line : split(*text, '\n')) {
            const auto blank = line.find(' ');
            std::uint64_t value = 0;
            if (blank == std::string_view::npos) continue;
            const std::string_view digits = trim(line.substr(blank));
            if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc{})
                values.emplace(line.substr(0, blank), value);
        }
        if (values["simd_count"] == 0) continue;  // a CPU
        // the upper bits of the place number the part
        nodes[{values["domain"], values["location_id"] & 0xffff}].push_back(amd_uuid_of(values["unique_id"]));
    }
    return nodes;
}

// From the name of the mode, where there is no KFD; in CPX each compute die is a device, of which there are 8 but for MI300A and MI308X.
int parts_of_mode(std::string_view mode, std::string_view device_id) {
    if (mode == "CPX") return device_id == "0x74a0" ? 6 : device_id == "0x74a2" ? 4 : 8;
    static constexpr std::array<std::pair<std::string_view, int>, 4> modes{{{"SPX", 1}, {"DPX", 2}, {"TPX", 3}, {"QPX", 4}}};
    for (const auto& [name, parts] : modes)
        if (mode == name) return parts;
    return 0;
}

void add_amd(Gpu& gpu, const path& root, const KfdNodes& kfd) {
    const PciAddress& pci = *gpu.place.pci;
    const path device = root / "sys/bus/pci/devices" / to_string(pci);
    if (std::string name = read_value(device / "product_name"); !name.empty()) gpu.name = std::move(name);
    const auto nodes = kfd.find({pci.domain, static_cast<std::uint64_t>(pci.bus << 8 | pci.device << 3 | pci.function)});
    const std::vector<std::string> uuids = nodes == kfd.end() ? std::vector<std::string>{} : nodes->second;
    const int parts = !uuids.empty() ? static_cast<int>(uuids.size())
                                     : parts_of_mode(read_value(device / "current_compute_partition"), read_value(device / "device"));
    if (std::string uuid = amd_uuid(read_value(device / "unique_id")); !uuid.empty()) {
        gpu.uuid = std::move(uuid);
    } else if (!uuids.empty() && !uuids.front().empty()) {
        gpu.uuid = uuids.front();
    }
    if (parts == 0) return;
    gpu.partitions = parts;
    gpu.partition_uuids.clear();
    const bool told =
        parts > 1 && !uuids.empty() && std::none_of(uuids.begin(), uuids.end(), [](const std::string& uuid) { return uuid.empty(); });
    if (told) gpu.partition_uuids = uuids;
}

}  // namespace

std::string amd_uuid(std::string_view digits) {
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    std::uint64_t id = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id, 16);
    return error == std::errc{} && end == digits.data() + digits.size() ? amd_uuid_of(id) : std::string();
}

void add_gpu_facts(NodeTopology& node, const std::string& root) {
    const KfdNodes kfd = read_kfd(root);
    for (Gpu& gpu : node.gpus) {
        if (!gpu.place.pci) continue;
        if (gpu.vendor == "NVIDIA") add_nvidia(gpu, root);
        if (gpu.vendor == "AMD") add_amd(gpu, root, kfd);
    }
}

}  // namespace paced::io
