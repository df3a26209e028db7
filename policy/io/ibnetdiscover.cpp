// SPDX-License-Identifier: BSD-3-Clause
// The form with blocks:
//   Switch  41 "S-1c34da0300728866"    # "MF0;leaf-01:MQM8700/U1" enhanced port 0 lid 1600 lmc 0
//   [1]     "H-1c34da0300608820"[1](1c34da0300608820)    # "n001 mlx5_0" lid 837 4xHDR
//   Ca      1 "H-1c34da0300608820"     # "n001 mlx5_0"
//   [1](1c34da0300608820)  "S-1c34da0300728866"[1]       # lid 837 lmc 0 "MF0;leaf-01:MQM8700/U1" lid 1600 4xHDR
#include "policy/io/ibnetdiscover.h"

#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "policy/base/text.h"
#include "policy/io/infiniband_graph.h"
#include "policy/io/text_lines.h"

namespace paced::io {

namespace {

using Kind = InfinibandGraph::Kind;

constexpr std::size_t most_errors = 20;
constexpr std::array<std::string_view, 8> facts{
    "vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid=", "portguid=", "Chassis "};

class Reader {
public:
    Reader(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

    bool read(std::string_view text) {
        TextLines lines(text);
        std::size_t errors = 0;
        while (lines.next(line_)) {
            number_ = lines.number();
            if (read_line()) continue;
            if (++errors == most_errors) break;
        }
        return errors == 0;
    }

    topology::SwitchGraph finish() {
        if (doubled_ > 0)
            diagnostics_
                .warning(first_double_, count_of(doubled_, "adapter") + (doubled_ == 1 ? " has" : " have") +
                                            " the description of another one, as '" + std::string(double_) + "'")
                .hints.push_back("are these machines with one and the same host name? They are taken for one");
        return graph_.finish(file_, diagnostics_);
    }

private:
    bool read_line() {
        const std::string_view line = trim(line_);
        if (line.empty() || line.front() == '#') return true;
        if (line.front() == '[') return read_port();
        for (const auto& [word, kind] :
             {std::pair{std::string_view("Switch"), Kind::fabric_switch}, {"Ca", Kind::adapter}, {"Rt", Kind::router}})
            if (line.starts_with(word) && line.size() > word.size() && (line[word.size()] == '\t' || line[word.size()] == ' '))
                return read_head(kind);
        for (std::string_view fact : facts)
            if (line.starts_with(fact)) return true;
        return fail_at(line, "this is no line of ibnetdiscover", "a block starts with Switch, Ca or Rt; the lines of its ports follow");
    }

    bool fail_at(std::string_view part, std::string message, std::string hint = {}) {
        auto& entry = diagnostics_.error(place_of(part), std::move(message));
        if (!hint.empty()) entry.hints.push_back(std::move(hint));
        return false;
    }
    Location place_of(std::string_view part) const { return {file_, number_, static_cast<int>(part.data() - line_.data()) + 1}; }

    struct Named {
        Kind kind;
        std::uint64_t guid;
        std::string_view rest;  // behind the name
    };
    // "S-1c34da0300728866" in quotes, the first of the text.
    std::optional<Named> read_name(std::string_view text, std::string_view what) {
        const std::size_t open = text.find('"');
        const std::size_t close = open == std::string_view::npos ? open : text.find('"', open + 1);
        if (close == std::string_view::npos || text.substr(0, open).find('#') != std::string_view::npos) {
            fail_at(text.substr(text.size()), std::string(what) + " has no name like \"S-1c34da0300728866\"", "is the file cut off here?");
            return std::nullopt;
        }
        const std::string_view name = text.substr(open + 1, close - open - 1);
        const auto kind = kind_of(name);
        const auto guid = kind ? parse_guid(name.substr(2)) : std::nullopt;
        if (guid) return Named{*kind, *guid, text.substr(close + 1)};
        fail_at(name, "'" + std::string(name) + "' is no name of a node", "a name is S-, H- or R- and a GUID of hexadecimal digits");
        return std::nullopt;
    }
    static std::optional<Kind> kind_of(std::string_view name) {
        if (name.starts_with("S-")) return Kind::fabric_switch;
        if (name.starts_with("H-")) return Kind::adapter;
        if (name.starts_with("R-")) return Kind::router;
        return std::nullopt;
    }

    static std::string_view description_in(std::string_view text) {
        const std::size_t hash = text.find('#');
        const std::size_t open = hash == std::string_view::npos ? hash : text.find('"', hash);
        const std::size_t close = open == std::string_view::npos ? open : text.find('"', open + 1);
        return close == std::string_view::npos ? std::string_view{} : text.substr(open + 1, close - open - 1);
    }

    bool read_head(Kind kind) {
        block_.reset();
        lost_ = true;
        const auto named = read_name(line_, kind == Kind::fabric_switch ? "this switch" : "this adapter");
        if (!named) return false;
        if (named->kind != kind) return fail_at(line_, "the kind of this block is not that of its name");
        const std::string_view description = description_in(named->rest);
        const auto node = graph_.node(kind, named->guid, description);
        block_ = node;
        lost_ = false;
        const auto [first, is_new] = defined_.try_emplace(node, number_);
        if (!is_new) {
            fail_at(
                line_,
                (kind == Kind::fabric_switch ? std::string("a switch") : std::string("an adapter")) + " with this GUID is defined twice",
                "the first definition is at " + to_string(Location{file_, first->second, 1}));
            return false;
        }
        if (kind == Kind::adapter && host_of_description(description) && !described_.insert(description).second && doubled_++ == 0) {
            double_ = description;
            first_double_ = place_of(line_);
        }
        return true;
    }

    bool read_port() {
        if (lost_) return true;  // the head of its block was told of
        if (!block_) return fail_at(trim(line_), "a port outside a block", "is the head of the file cut off?");
        const std::string_view line = trim(line_);
        const std::size_t close = line.find(']');
        if (close == std::string_view::npos) return fail_at(line, "the port's number has no closing bracket");
        const auto number = parse_integer(line.substr(1, close - 1));
        if (!number || *number < 0 || *number > 255) return fail_at(line.substr(1), "a port's number is between 0 and 255");
        const auto peer = read_name(line.substr(close + 1), "this port's other end");
        if (!peer) return false;
        graph_.link(*block_, graph_.node(peer->kind, peer->guid, description_in(peer->rest)));
        return true;
    }

    const std::string& file_;
    Diagnostics& diagnostics_;
    std::string_view line_;
    int number_ = 0;
    InfinibandGraph graph_;
    std::optional<InfinibandGraph::Node> block_;
    bool lost_ = false;                                       // the block has a wrong head
    std::unordered_map<InfinibandGraph::Node, int> defined_;  // the line
    std::unordered_set<std::string_view> described_;
    long long doubled_ = 0;
    std::string_view double_;
    Location first_double_;
};

}  // namespace

std::optional<topology::SwitchGraph> parse_ibnetdiscover(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    Reader reader(file, diagnostics);
    if (!reader.read(text)) return std::nullopt;
    return reader.finish();
}

}  // namespace paced::io
