// SPDX-License-Identifier: BSD-3-Clause
// The form of -p:
//   CA   134  1 0x7cfe9003003b4bde 4x EDR - SW  1719 10 0x7cfe9003009ce5b0 ( 'n001 HCA-1' - 'leaf-01' )
//   SW  2052 37 0x506b4b03005c2740 4x ???                                    'leaf-02'
// kind, LID, port, GUID, width, speed, and the same of the other end where the port is up.
#include <algorithm>
#include <utility>

#include "policy/base/text.h"
#include "policy/io/ibnetdiscover.h"
#include "policy/io/infiniband_graph.h"
#include "policy/io/text_lines.h"

namespace paced::io {

namespace {

using Kind = InfinibandGraph::Kind;

constexpr std::size_t most_errors = 20;

std::optional<Kind> kind_of(std::string_view word) {
    if (word == "CA") return Kind::adapter;
    if (word == "SW") return Kind::fabric_switch;
    if (word == "RT") return Kind::router;
    return std::nullopt;
}

class LineReader {
public:
    LineReader(std::string_view line, int number, const std::string& file, InfinibandGraph& graph, Diagnostics& diagnostics)
        : line_(line), rest_(line), number_(number), file_(file), graph_(graph), diagnostics_(diagnostics) {}

    bool read() {
        const auto near = read_end();
        if (!near) return false;
        const std::string_view width = word(), speed = word();
        if (width.empty() || speed.empty()) return fail_here("the port's width and speed are missing");
        rest_ = trim(rest_);
        if (!rest_.starts_with("- ")) {  // down
            graph_.node(near->kind, near->guid, unquoted(rest_));
            return true;
        }
        rest_.remove_prefix(1);
        const auto far = read_end();
        if (!far) return false;
        rest_ = trim(rest_);
        const std::size_t between = rest_.find("' - '");
        if (!rest_.starts_with("( '") || !rest_.ends_with("' )") || between == std::string_view::npos || between < 3 ||
            between + 5 > rest_.size() - 3)
            return fail_here("the descriptions of both ends are missing: ( 'n001 HCA-1' - 'leaf-01' )");
        const auto a = graph_.node(near->kind, near->guid, rest_.substr(3, between - 3));
        const auto b = graph_.node(far->kind, far->guid, rest_.substr(between + 5, rest_.size() - 3 - (between + 5)));
        graph_.link(a, b);
        return true;
    }

private:
    struct End {
        Kind kind;
        std::uint64_t guid;
    };

    std::string_view word() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
        const std::string_view found = rest_.substr(0, rest_.find_first_of(" \t"));
        rest_.remove_prefix(found.size());
        return found;
    }
    static std::string_view unquoted(std::string_view text) {
        return text.size() > 1 && text.front() == '\'' && text.back() == '\'' ? text.substr(1, text.size() - 2) : text;
    }

    std::optional<End> read_end() {
        const std::string_view kind_word = word();
        const auto kind = kind_of(kind_word);
        if (!kind) {
            fail_at(kind_word, "'" + std::string(kind_word) + "' is no kind of node", "valid: 'CA', 'SW' or 'RT'");
            return std::nullopt;
        }
        for (const char* what : {"LID", "port"}) {
            const std::string_view number = word();
            if (parse_integer(number)) continue;
            fail_at(number,
                    number.empty() ? std::string("the line ends before the ") + what : "'" + std::string(number) + "' is no " + what);
            return std::nullopt;
        }
        const std::string_view guid_word = word();
        const auto guid = parse_guid(guid_word);
        if (!guid) {
            fail_at(guid_word, guid_word.empty() ? "the line ends before the GUID" : "'" + std::string(guid_word) + "' is no GUID");
            return std::nullopt;
        }
        return End{*kind, *guid};
    }

    bool fail_here(std::string message) { return fail_at(rest_, std::move(message)); }
    bool fail_at(std::string_view part, std::string message, std::string hint = {}) {
        const std::size_t column = part.data() == nullptr ? line_.size() : static_cast<std::size_t>(part.data() - line_.data());
        auto& entry = diagnostics_.error({file_, number_, static_cast<int>(column) + 1}, std::move(message));
        if (!hint.empty()) entry.hints.push_back(std::move(hint));
        return false;
    }

    std::string_view line_, rest_;
    int number_;
    const std::string& file_;
    InfinibandGraph& graph_;
    Diagnostics& diagnostics_;
};

}  // namespace

std::optional<topology::SwitchGraph> parse_ibnetdiscover_ports(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    InfinibandGraph graph;
    TextLines lines(text);
    std::size_t errors = 0;
    for (std::string_view line; lines.next(line) && errors < most_errors;) {
        const std::string_view content = trim(line);
        if (content.empty() || content.front() == '#') continue;
        if (!LineReader(line, lines.number(), file, graph, diagnostics).read()) ++errors;
    }
    if (errors > 0) return std::nullopt;
    return graph.finish(file, diagnostics);
}

}  // namespace paced::io
