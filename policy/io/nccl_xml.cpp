// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/nccl_xml.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "policy/base/text.h"
#include "policy/io/xml_reader.h"
#include "policy/topology/device_kinds.h"

namespace paced::io {

namespace {

using namespace paced::topology;
using Element = XmlReader::Element;

constexpr int most_parts = 64;  // of one device; there are 8 today

struct Net {
    std::string name;
    int port = 0;
    std::uint32_t rate_mbps = 0;
};

// A <pci> that is open.
struct Pci {
    PciAddress address;
    PciNumbers numbers;
    bool has_class = false;
    bool has_below = false;  // other <pci>
    int gpus = 0;            // <gpu>, more than one where the device is partitioned
    bool gcn = false;        // with AMD's attribute
    std::vector<Net> nets;
};

// "0x030200"; nullopt: no such number.
std::optional<std::uint32_t> parse_hex(std::string_view text) {
    if (text.starts_with("0x")) text.remove_prefix(2);
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// Linux's mask of CPUs, "000000ff,ffff0000": words of 32 bits, the highest first; leading zeros may be missing.
std::optional<CpuSet> parse_mask(std::string_view text) {
    CpuSet cpus;
    if (text.empty()) return cpus;
    std::size_t base = 0;
    const auto words = split(text, ',');
    for (auto word = words.rbegin(); word != words.rend(); ++word) {
        const std::string_view digits = trim(*word);
        if (digits.empty() || (words.size() > 1 && digits.size() > 8)) return std::nullopt;
        for (std::size_t i = 0; i < digits.size(); ++i) {
            const auto digit = parse_hex(digits.substr(digits.size() - 1 - i, 1));
            if (!digit) return std::nullopt;
            for (std::size_t bit = 0; bit < 4; ++bit) {
                if ((*digit >> bit & 1) == 0) continue;
                const std::size_t cpu = base + 4 * i + bit;
                if (cpu >= CpuSet::limit) return std::nullopt;
                cpus.add(static_cast<int>(cpu));
            }
        }
        base += 32;
    }
    return cpus;
}

class NcclXmlParser {
public:
    NcclXmlParser(std::string_view text, const std::string& file, Diagnostics& diagnostics)
        : text_(text), file_(file), reader_(text, file, diagnostics), diagnostics_(diagnostics) {}

    std::optional<NodeTopology> parse();

private:
    void open();
    void close();
    void open_cpu();
    void open_pci();
    void open_net();
    void close_pci();

    Diagnostic& error(std::string message) {
        wrong_ = true;
        return diagnostics_.error(reader_.here(), std::move(message));
    }
    std::string text_of(std::string_view attribute) const { return xml_attribute(reader_.element(), attribute).value_or(""); }
    std::optional<std::uint32_t> hex_of(std::string_view attribute, std::uint32_t most);

    Place place_here() const;
    std::optional<std::string> vendor_of(const Pci& pci) const;
    static std::optional<NicKind> nic_kind_of(const Pci& pci);
    void add_nic(Place place, NicKind kind, const std::vector<Net>& nets);
    bool finish();

    std::string_view text_;
    std::string file_;
    XmlReader reader_;
    Diagnostics& diagnostics_;
    NodeTopology node_;
    std::map<int, CpuSet> numa_nodes_;
    std::set<PciAddress> seen_;
    std::set<std::string> hosts_;
    int cpus_ = 0;                   // <cpu> so far
    std::optional<Place> cpu_;       // of the one that is open: where what is directly below it sits
    std::vector<Pci> pcis_;          // open, outermost first
    std::size_t without_class_ = 0;  // devices of which nothing but the address is told
    std::optional<Location> first_without_class_;
    bool wrong_ = false;
};

std::optional<std::uint32_t> NcclXmlParser::hex_of(std::string_view attribute, std::uint32_t most) {
    const std::string text = text_of(attribute);
    if (text.empty()) return std::nullopt;
    const auto value = parse_hex(text);
    if (value && *value <= most) return value;
    error(std::string(attribute) + " '" + text + "' is not a hexadecimal number of a PCI device")
        .hints.push_back("a GPU's class is 0x030200");
    return std::nullopt;
}

void NcclXmlParser::open_cpu() {
    Place place;
    place.path.host_bridge = "cpu " + std::to_string(cpus_++);
    const std::string numa = text_of("numaid");
    if (const auto number = parse_integer(numa); number && *number >= -1 && *number < CpuSet::limit) {
        if (*number >= 0) place.numa = static_cast<int>(*number);  // -1: a virtual machine that does not tell
    } else if (!numa.empty()) {
        error("numaid '" + numa + "' is not the number of a NUMA node").hints.push_back("-1 where it is not known");
    }
    const std::string mask = text_of("affinity");
    if (const auto cpus = parse_mask(mask)) {
        place.local_cpus = *cpus;
    } else {
        error("affinity '" + mask + "' is not a mask of CPUs")
            .hints.push_back("words of 8 hexadecimal digits, as in \"0000ffff,0000ffff\"");
    }
    if (place.numa) numa_nodes_[*place.numa] |= place.local_cpus;
    node_.cpus |= place.local_cpus;
    if (const std::string host = text_of("host_hash"); !host.empty() && hosts_.insert(host).second && hosts_.size() == 2)
        error("a <cpu> of a second host: the file describes more than one node")
            .hints.push_back("NCCL_MNNVL_ENABLE=0 makes NCCL write one node");
    cpu_ = std::move(place);
}

void NcclXmlParser::open_pci() {
    Pci pci;
    const std::string bus = text_of("busid");
    if (const auto address = parse_pci_address(bus)) {
        pci.address = *address;
        if (!seen_.insert(*address).second)
            error("a second <pci> of address " + to_string(*address)).hints.push_back("devices are told apart by their busid");
    } else {
        error(bus.empty() ? "a <pci> without a busid" : "busid '" + bus + "' is not a PCI address")
            .hints.push_back("as in busid=\"0000:06:00.0\"");
    }
    // 0x030200: class, subclass, programming interface
    if (const auto class_code = hex_of("class", 0xffffff)) {
        pci.numbers.class_code = static_cast<std::uint16_t>(*class_code >> 8);
        pci.has_class = true;
    }
    pci.numbers.vendor = static_cast<std::uint16_t>(hex_of("vendor", 0xffff).value_or(0));
    pci.numbers.device = static_cast<std::uint16_t>(hex_of("device", 0xffff).value_or(0));
    if (!pcis_.empty()) pcis_.back().has_below = true;
    pcis_.push_back(std::move(pci));
}

void NcclXmlParser::open_net() {
    Net net;
    net.name = text_of("name");
    net.port = static_cast<int>(std::clamp(parse_integer(text_of("port")).value_or(0), 0LL, 255LL));
    net.rate_mbps = static_cast<std::uint32_t>(std::clamp(parse_integer(text_of("speed")).value_or(0), 0LL, 100'000'000LL));
    if (!pcis_.empty()) {
        pcis_.back().nets.push_back(std::move(net));
        return;
    }
    if (net.name.empty()) {
        error("a <net> with neither a name nor a PCI device").hints.push_back("as in <net name=\"eth0\"/>");
        return;
    }
    // The same device may stand twice, once for CollNet.
    if (std::any_of(node_.nics.begin(), node_.nics.end(), [&](const Nic& nic) { return !nic.place.pci && nic.name == net.name; })) return;
    const NicKind kind = kind_of_name(net.name).value_or(NicKind::ethernet);
    add_nic(place_here(), kind, {std::move(net)});
}

void NcclXmlParser::open() {
    const std::string_view name = reader_.element().name;
    if (reader_.open().size() == 1) {
        if (name != "system")
            error("not an NCCL topology XML: its first element is <" + std::string(name) + ">, not <system>")
                .hints.push_back("hwloc's XML begins with <topology>, NCCL's with <system>");
    } else if (name == "cpu") {
        open_cpu();
    } else if (name == "pci") {
        open_pci();
    } else if (name == "gpu" && !pcis_.empty()) {
        if (++pcis_.back().gpus > most_parts) error("more than " + std::to_string(most_parts) + " <gpu> in one <pci>");
        pcis_.back().gcn |= xml_attribute(reader_.element(), "gcn").has_value();
    } else if (name == "net") {
        open_net();
    }
}

void NcclXmlParser::close() {
    if (reader_.open().empty()) return;  // <system>
    const std::string_view name = reader_.element().name;
    if (name == "cpu") {
        cpu_.reset();
    } else if (name == "pci") {
        close_pci();
    }
}

// Where a device directly below what is open sits.
Place NcclXmlParser::place_here() const {
    Place place = cpu_.value_or(Place{});
    for (const Pci& pci : pcis_) place.path.bridges.push_back(pci.address);
    // Not below a <cpu>: only what is below the same device is known to be near.
    if (place.path.host_bridge.empty() && !pcis_.empty()) place.path.host_bridge = "of " + to_string(pcis_.front().address);
    return place;
}

// nullopt: it is no GPU.
std::optional<std::string> NcclXmlParser::vendor_of(const Pci& pci) const {
    constexpr std::uint16_t display_3d = 0x0302, display_other = 0x0380, accelerator = 0x1200, unknown = 0xffff;
    if (pci.numbers.vendor != 0 && pci.numbers.vendor != unknown)
        if (const auto vendor = gpu_vendor(pci.numbers, true)) return std::string(*vendor);
    if (pci.gcn) return "AMD";
    // NVIDIA's GPUs are "3D controllers", AMD's are not.
    const bool told = pci.numbers.vendor != 0 && pci.numbers.vendor != unknown;
    if (!told && pci.numbers.class_code == display_3d) return "NVIDIA";
    if (!told && (pci.numbers.class_code == display_other || pci.numbers.class_code == accelerator)) return "AMD";
    if (pci.gpus > 0) return "";
    return std::nullopt;
}

// nullopt: it is no NIC.
std::optional<NicKind> NcclXmlParser::nic_kind_of(const Pci& pci) {
    std::optional<NicKind> named;
    NicHints hints;
    for (const Net& net : pci.nets) {
        const auto kind = kind_of_name(net.name);
        if (kind && *kind != NicKind::ethernet) {
            hints.rdma_names.push_back(net.name);
            if (!named) named = kind;
        } else {
            hints.has_netdev = true;
        }
    }
    if (named && *named != NicKind::rdma) return named;
    if (pci.has_class)
        if (const auto kind = nic_kind(pci.numbers, hints)) return kind;
    if (pci.nets.empty()) return std::nullopt;
    return named.value_or(NicKind::ethernet);
}

void NcclXmlParser::add_nic(Place place, NicKind kind, const std::vector<Net>& nets) {
    Nic nic;
    nic.place = std::move(place);
    nic.kind = kind;
    for (const Net& net : nets) {
        if (nic.name.empty()) {
            nic.name = net.name;
        } else if (net.name != nic.name && std::find(nic.more_names.begin(), nic.more_names.end(), net.name) == nic.more_names.end()) {
            nic.more_names.push_back(net.name);
        }
        nic.rate_mbps = std::max(nic.rate_mbps, net.rate_mbps);
        const bool known = std::any_of(nic.ports.begin(), nic.ports.end(), [&](const NicPort& port) { return port.number == net.port; });
        if (net.port > 0 && !known) nic.ports.push_back({net.port, LinkState::unknown, net.rate_mbps});
    }
    node_.nics.push_back(std::move(nic));
}

void NcclXmlParser::close_pci() {
    const Pci pci = std::move(pcis_.back());
    pcis_.pop_back();
    Place place = place_here();
    place.pci = pci.address;
    if (const auto vendor = vendor_of(pci)) {
        Gpu gpu{std::move(place), "", *vendor};
        gpu.partitions = std::max(1, pci.gpus);
        node_.gpus.push_back(std::move(gpu));
    } else if (const auto kind = nic_kind_of(pci)) {
        add_nic(std::move(place), *kind, pci.nets);
    } else if (!pci.has_class && !pci.has_below) {
        ++without_class_;
        if (!first_without_class_) first_without_class_ = reader_.here();
    }
}

bool NcclXmlParser::finish() {
    if (wrong_) return false;
    if (node_.gpus.empty() && node_.nics.empty()) {
        constexpr char hint[] = "NCCL itself writes the whole of it with NCCL_TOPO_DUMP_FILE=FILE";
        if (without_class_ == 0) {
            diagnostics_.error({file_, 0, 0}, "no GPU and no NIC in this NCCL topology").hints.push_back(hint);
            return false;
        }
        diagnostics_
            .warning(*first_without_class_,
                     "no GPU and no NIC: " + count_of(static_cast<long long>(without_class_), "device") + " without a class")
            .hints.push_back(hint);
    }
    node_.origin = "NCCL topology " + file_;
    for (const auto& [number, cpus] : numa_nodes_) node_.numa_nodes.push_back({number, cpus, 0});
    for (int cpu : node_.cpus.members())
        node_.pus.push_back({.cpu = cpu, .core = static_cast<int>(node_.pus.size())});  // cores are not told
    locate_pus(node_);
    sort_devices(node_);
    return true;
}

std::optional<NodeTopology> NcclXmlParser::parse() {
    if (text_.find('\0') != std::string_view::npos) {
        diagnostics_.error({file_, 0, 0}, "not a text file: it holds a NUL byte");
        return std::nullopt;
    }
    bool any = false;
    for (;;) {
        switch (reader_.next()) {
            case XmlReader::Event::open:
                open();
                if (!any && wrong_) return std::nullopt;  // another format altogether
                any = true;
                break;
            case XmlReader::Event::close:
                close();
                break;
            case XmlReader::Event::broken:
                return std::nullopt;
            case XmlReader::Event::end:
                if (!any) diagnostics_.error({file_, 0, 0}, "not an NCCL topology XML: it holds no <system> element");
                if (!any || !finish()) return std::nullopt;
                return std::move(node_);
        }
    }
}

}  // namespace

std::optional<NodeTopology> parse_nccl_xml(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    return NcclXmlParser(text, file, diagnostics).parse();
}

}  // namespace paced::io
