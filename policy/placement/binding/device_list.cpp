// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/binding/device_list.h"

#include <algorithm>

#include "policy/base/text.h"

namespace paced::placement {

namespace {

using namespace paced::topology;

class Reader {
public:
    Reader(const NodeTopology& node, const std::vector<GpuIndex>& choice, bool tiles) : node_(node), choice_(choice), tiles_(tiles) {}

    DeviceList read(std::string_view text) {
        for (std::string_view raw : split(text, ',')) {
            const std::string_view entry = trim(raw);
            if (!take(entry) || !list_.doubt.empty()) {
                if (list_.doubt.empty()) list_.cut_at = entry;
                break;
            }
        }
        for (std::size_t i = 0; i < list_.entries.size() && list_.doubt.empty(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (list_.entries[i].text == list_.entries[j].text) list_.doubt = list_.entries[i].text + " stands in it twice";
        if (!list_.doubt.empty()) list_.entries.clear();
        return std::move(list_);
    }

private:
    // False: an invalid entry, which ends the list.
    bool take(std::string_view entry) {
        if (entry.starts_with("MIG-")) return take_part(entry);
        if (entry.starts_with("GPU-")) return take_uuid(entry);
        return take_number(entry);
    }

    bool add(std::string_view entry, GpuIndex gpu, bool number, bool part) {
        if (!list_.entries.empty() && (list_.numbers != number || list_.parts != part)) {
            list_.doubt = "numbers and UUIDs are mixed in it";
            return false;
        }
        list_.numbers = number;
        list_.parts = part;
        list_.entries.push_back({std::string(entry), gpu});
        return true;
    }

    bool take_number(std::string_view entry) {
        std::string_view digits = entry;
        if (tiles_) digits = digits.substr(0, digits.find('.'));
        const auto number = parse_integer(digits);
        if (!number || *number < 0 || digits.front() == '+' || static_cast<std::size_t>(*number) >= choice_.size()) return false;
        if (digits.size() < entry.size()) {
            const auto tile = parse_integer(entry.substr(digits.size() + 1));
            if (!tile || *tile < 0) return false;
            for (const DeviceEntry& other : list_.entries)
                if (other.text != entry && other.gpu == choice_[static_cast<std::size_t>(*number)])
                    list_.doubt = "whether several tiles of one GPU are one device or several depends on the driver";
        }
        return add(entry, choice_[static_cast<std::size_t>(*number)], true, false);
    }

    // A beginning is enough where only one GPU of the choice begins so.
    bool take_uuid(std::string_view entry) {
        std::vector<GpuIndex> found;
        bool all_known = true;
        for (GpuIndex gpu : choice_) {
            const std::string& uuid = node_.gpu(gpu).uuid;
            if (uuid == entry) return add(entry, gpu, false, false);
            all_known = all_known && !uuid.empty();
            if (uuid.starts_with(entry) && std::find(found.begin(), found.end(), gpu) == found.end()) found.push_back(gpu);
        }
        if (!all_known) {
            list_.doubt = "the UUIDs of this node's GPUs are not known";
            return false;
        }
        return found.size() == 1 && add(entry, found.front(), false, false);
    }

    // "MIG-UUID", or as drivers before R470 write it "MIG-GPU-UUID/5/0".
    bool take_part(std::string_view entry) {
        for (GpuIndex gpu : choice_) {
            const Gpu& parent = node_.gpu(gpu);
            const auto& parts = parent.partition_uuids;
            const bool old_form = !parent.uuid.empty() && entry.substr(4).starts_with(parent.uuid + '/');
            if (old_form || std::find(parts.begin(), parts.end(), entry) != parts.end()) return add(entry, gpu, false, true);
        }
        list_.doubt = "which GPU " + std::string(entry) + " is part of is not known";
        return false;
    }

    const NodeTopology& node_;
    const std::vector<GpuIndex>& choice_;
    bool tiles_;
    DeviceList list_;
};

}  // namespace

DeviceList read_device_list(const NodeTopology& node, std::string_view text, const std::vector<GpuIndex>& choice, bool tiles) {
    return Reader(node, choice, tiles).read(text);
}

}  // namespace paced::placement
