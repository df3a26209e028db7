// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/spank/hosts.h"

namespace paced::spank {
namespace {

constexpr int most_brackets = 8;

bool is_name_character(char c) noexcept {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

bool add(Hosts& hosts, const Name& name) noexcept {
    if (name.empty() || hosts.count == Hosts::limit || name.view().size() >= Hosts::room - hosts.used) return false;
    hosts.starts[hosts.count++] = static_cast<std::uint32_t>(hosts.used);
    std::memcpy(hosts.names + hosts.used, name.c_str(), name.view().size() + 1);
    hosts.used += name.view().size() + 1;
    return true;
}

// A number with the width of the text that it came from: 8 of "08" is "08".
bool append_number(Name& name, std::uint32_t number, std::size_t width) noexcept {
    char digits[16];
    std::size_t size = 0;
    do digits[sizeof digits - ++size] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (size < width && size < sizeof digits) digits[sizeof digits - ++size] = '0';
    return name.append({digits + sizeof digits - size, size});
}

// One element: what stands in front of its first bracket, each number in there, and the rest in turn.
bool expand_element(Hosts& hosts, Name name, std::string_view rest, int depth) noexcept {
    const bool has_bracket = rest.find('[') != std::string_view::npos;
    const std::string_view plain = cut_until(rest, '[');
    for (const char c : plain) {
        if (!is_name_character(c)) return false;
    }
    if (!name.append(plain)) return false;
    if (!has_bracket) return add(hosts, name);
    if (depth == most_brackets || rest.find(']') == std::string_view::npos) return false;
    std::string_view ranges = cut_until(rest, ']');
    if (ranges.empty() || ranges.back() == ',') return false;
    while (!ranges.empty()) {
        std::string_view last = cut_until(ranges, ',');
        const std::string_view first = last.find('-') == std::string_view::npos ? last : cut_until(last, '-');
        std::uint32_t from = 0, to = 0;
        if (!parse_number(first, from) || !parse_number(last, to) || to < from || to - from >= Hosts::limit) return false;
        for (std::uint32_t number = from; number <= to; ++number) {
            Name longer = name;
            if (!append_number(longer, number, first.size()) || !expand_element(hosts, longer, rest, depth + 1)) return false;
        }
    }
    return true;
}

}  // namespace

bool Hosts::expand(std::string_view list) noexcept {
    count = 0;
    used = 0;
    std::size_t begin = 0;
    bool in_bracket = false;
    for (std::size_t i = 0; i <= list.size(); ++i) {
        const bool at_end = i == list.size();
        if (!at_end && list[i] == '[') in_bracket = true;
        if (!at_end && list[i] == ']') in_bracket = false;
        if (!at_end && (list[i] != ',' || in_bracket)) continue;
        if (!expand_element(*this, Name{}, {list.data() + begin, i - begin}, 0)) return false;
        begin = i + 1;
    }
    return count > 0;
}

bool Hosts::new_order(std::string_view text) noexcept {
    std::memset(seen, 0, count);
    std::uint32_t placed = 0;
    if (text.empty() || text.back() == ',') return false;
    while (!text.empty()) {
        std::string_view last = cut_until(text, ',');
        const std::string_view first = last.find('-') == std::string_view::npos ? last : cut_until(last, '-');
        std::uint32_t from = 0, to = 0;
        if (!parse_number(first, from) || !parse_number(last, to) || to < from || to >= count) return false;
        for (std::uint32_t position = from; position <= to; ++position) {
            if (seen[position] != 0) return false;
            seen[position] = 1;
            order[placed++] = position;
        }
    }
    return placed == count && order[0] == 0;
}

}  // namespace paced::spank
