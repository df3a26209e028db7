// SPDX-License-Identifier: BSD-3-Clause
#include "policy/topology/host_list.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

namespace paced::topology {

namespace {

constexpr std::size_t max_digits = 18;  // fits 64 bits; Slurm itself overflows beyond
constexpr std::size_t max_name = 255;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

void append_padded(std::string& text, std::uint64_t number, std::size_t width) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    const auto length = static_cast<std::size_t>(end - digits);
    if (length < width) text.append(width - length, '0');
    text.append(digits, length);
}

std::string padded(std::uint64_t number, std::size_t width) {
    std::string text;
    append_padded(text, number, width);
    return text;
}

struct Range {
    std::uint64_t first = 0, last = 0;
    std::size_t width = 0;
};

// One element of the list: literal texts with brackets between them; texts has one entry more than brackets.
struct Pattern {
    std::vector<std::string> texts{std::string()};
    std::vector<std::vector<Range>> brackets;
};

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    HostList run() {
        while (!list_.errors.size() && position_ < text_.size()) {
            skip_blanks();
            if (position_ == text_.size()) break;
            const std::size_t start = position_;
            Pattern pattern;
            if (!read_pattern(pattern)) break;
            if (pattern.brackets.empty() && pattern.texts.front().empty()) {
                // An empty element, "a,,b" or a comma at an end: Slurm skips it, and so do we.
            } else if (!append(pattern, start)) {
                break;
            }
            skip_blanks();
            if (position_ < text_.size() && text_[position_] != ',') {
                fail(position_, std::string("a comma is missing before '") + text_[position_] + "'");
                break;
            }
            ++position_;
        }
        if (!list_.errors.empty()) list_.hosts.clear();
        return std::move(list_);
    }

private:
    bool fail(std::size_t position, std::string message) {
        list_.errors.push_back({position, std::move(message)});
        return false;
    }

    bool at_blank() const { return text_[position_] == ' ' || text_[position_] == '\t'; }
    void skip_blanks() {
        while (position_ < text_.size() && at_blank()) ++position_;
    }

    bool read_pattern(Pattern& pattern) {
        for (; position_ < text_.size() && text_[position_] != ',' && !at_blank(); ++position_) {
            const char c = text_[position_];
            if (c == ']') return fail(position_, "']' without '['");
            if (c == '[') {
                if (!read_bracket(pattern)) return false;
            } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
                return fail(position_, "a control character in a host name");
            } else {
                pattern.texts.back() += c;
            }
        }
        return true;
    }

    // From '[' to ']', which position_ then stands on.
    bool read_bracket(Pattern& pattern) {
        const std::size_t open = position_++;
        std::vector<Range> ranges;
        for (;;) {
            const auto range = read_range(open);
            if (!range) return false;
            ranges.push_back(*range);
            if (text_[position_] == ']') break;
            ++position_;
        }
        pattern.brackets.push_back(std::move(ranges));
        pattern.texts.emplace_back();
        return true;
    }

    std::optional<Range> read_range(std::size_t open) {
        Range range;
        const std::size_t start = position_;
        if (!read_number(open, range.first)) return std::nullopt;
        range.width = position_ - start;
        range.last = range.first;
        if (position_ < text_.size() && text_[position_] == '-') {
            ++position_;
            if (!read_number(open, range.last)) return std::nullopt;
        }
        if (position_ == text_.size()) return fail(open, "'[' is not closed"), std::nullopt;
        if (text_[position_] != ',' && text_[position_] != ']')
            return fail(position_, std::string("'") + text_[position_] + "' in brackets; they hold numbers and ranges: [1-4,7]"),
                   std::nullopt;
        if (range.last < range.first)
            return fail(start, "the range " + std::string(text_.substr(start, position_ - start)) + " runs backwards"), std::nullopt;
        return range;
    }

    bool read_number(std::size_t open, std::uint64_t& number) {
        const std::size_t start = position_;
        while (position_ < text_.size() && is_digit(text_[position_])) ++position_;
        if (position_ == text_.size()) return fail(open, "'[' is not closed");
        if (position_ == start) {
            const char c = text_[position_];
            if (c == ']' || c == ',' || c == '-') return fail(position_, "a number is missing in brackets");
            return fail(position_, std::string("'") + c + "' in brackets; they hold numbers and ranges: [1-4,7]");
        }
        if (position_ - start > max_digits) return fail(start, "a number of more than 18 digits");
        std::from_chars(text_.data() + start, text_.data() + position_, number);
        return true;
    }

    // Adds every host of the pattern, the last bracket turning fastest.
    bool append(const Pattern& pattern, std::size_t start) {
        std::uint64_t total = 1;
        std::size_t length = 0;
        for (const auto& text : pattern.texts) length += text.size();
        for (const auto& ranges : pattern.brackets) {
            std::uint64_t size = 0;
            std::size_t longest = 0;
            for (const Range& range : ranges) {
                size = std::min<std::uint64_t>(size + (range.last - range.first) + 1, host_list_limit + 1);
                longest = std::max({longest, range.width, std::to_string(range.last).size()});
            }
            total = std::min<std::uint64_t>(total * size, host_list_limit + 1);
            length += longest;
        }
        if (length > max_name) return fail(start, "a host name of more than 255 characters");
        if (list_.hosts.size() + total > host_list_limit) return fail(start, "more than 1000000 hosts");
        // twice as much at least: a list without brackets adds one host at a time
        if (const std::size_t needed = list_.hosts.size() + total; needed > list_.hosts.capacity())
            list_.hosts.reserve(std::max(needed, 2 * list_.hosts.capacity()));
        std::string host = pattern.texts.front();
        expand(pattern, 0, host);
        return true;
    }

    // host: what the brackets before depth made; grown and cut back in place.
    void expand(const Pattern& pattern, std::size_t depth, std::string& host) {
        if (depth == pattern.brackets.size()) {
            list_.hosts.push_back(host);
            return;
        }
        const std::size_t length = host.size();
        for (const Range& range : pattern.brackets[depth]) {
            for (std::uint64_t number = range.first; number <= range.last; ++number) {
                append_padded(host, number, range.width);
                host += pattern.texts[depth + 1];
                expand(pattern, depth + 1, host);
                host.resize(length);
            }
        }
    }

    std::string_view text_;
    std::size_t position_ = 0;
    HostList list_;
};

// A host name cut before its last digits. Without digits at its end it stands alone.
struct Cut {
    std::string_view prefix;
    std::string_view digits;
};

Cut cut(std::string_view host) {
    std::size_t start = host.size();
    while (start > 0 && is_digit(host[start - 1]) && host.size() - start < max_digits) --start;
    return {host.substr(0, start), host.substr(start)};
}

std::uint64_t to_number(std::string_view digits) {
    std::uint64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

}  // namespace

HostList expand_hosts(std::string_view text) {
    return Parser(text).run();
}

std::string compress_hosts(std::span<const std::string> hosts) {
    std::string text;
    for (std::size_t i = 0; i < hosts.size();) {
        if (!text.empty()) text += ',';
        const Cut head = cut(hosts[i]);
        std::string ranges;
        std::size_t in_group = 0;
        while (i < hosts.size()) {
            const Cut first = cut(hosts[i]);
            if (first.digits.empty() || first.prefix != head.prefix) break;
            // How far the numbers run on, written with the width of the first.
            std::uint64_t last = to_number(first.digits);
            std::size_t run = 1;
            for (; i + run < hosts.size(); ++run) {
                const Cut next = cut(hosts[i + run]);
                if (next.prefix != head.prefix || next.digits != padded(last + 1, first.digits.size())) break;
                ++last;
            }
            if (!ranges.empty()) ranges += ',';
            ranges += first.digits;
            if (run > 1) ranges += '-' + padded(last, first.digits.size());
            in_group += run;
            i += run;
        }
        if (in_group == 0) {
            text += hosts[i++];
        } else if (in_group == 1) {
            text += hosts[i - 1];
        } else {
            text += std::string(head.prefix) + '[' + ranges + ']';
        }
    }
    return text;
}

}  // namespace paced::topology
