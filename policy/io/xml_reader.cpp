// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/xml_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace paced::io {

namespace {

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void append_utf8(std::uint32_t code, std::string& text) {
    const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) {
        text += static_cast<char>(code);
    } else if (code < 0x800) {
        text += static_cast<char>(0xc0 | code >> 6);
        tail(0);
    } else if (code < 0x10000) {
        text += static_cast<char>(0xe0 | code >> 12);
        tail(6), tail(0);
    } else {
        text += static_cast<char>(0xf0 | code >> 18);
        tail(12), tail(6), tail(0);
    }
}

// What "&NAME;" stands for, appended; false: nothing that we know.
bool append_entity(std::string_view name, std::string& text) {
    static constexpr std::array<std::pair<std::string_view, char>, 5> known{
        {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
    for (const auto& [word, letter] : known) {
        if (name != word) continue;
        text += letter;
        return true;
    }
    if (!name.starts_with('#')) return false;
    name.remove_prefix(1);
    const bool hexadecimal = name.starts_with('x');
    if (hexadecimal) name.remove_prefix(1);
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), code, hexadecimal ? 16 : 10);
    if (error != std::errc{} || end != name.data() + name.size() || code == 0 || code > 0x10ffff) return false;
    append_utf8(code, text);
    return true;
}

std::string without_entities(std::string_view raw) {
    std::string text;
    while (!raw.empty()) {
        const auto start = std::min(raw.find('&'), raw.size());
        text += raw.substr(0, start);
        raw.remove_prefix(start);
        if (raw.empty()) break;
        const auto end = raw.substr(0, 12).find(';');
        if (end == std::string_view::npos || !append_entity(raw.substr(1, end - 1), text)) {
            text += '&';  // a stray one stands for itself
            raw.remove_prefix(1);
        } else {
            raw.remove_prefix(end + 1);
        }
    }
    return text;
}

}  // namespace

Location XmlReader::place(std::size_t position) const {
    const std::string_view before = text_.substr(0, position);
    const auto line_start = before.rfind('\n');
    return {file_, 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')),
            1 + static_cast<int>(line_start == std::string_view::npos ? position : position - line_start - 1)};
}

XmlReader::Event XmlReader::broken(std::size_t position, std::string message) {
    diagnostics_.error(place(position), std::move(message));
    done_ = true;
    return Event::broken;
}

bool XmlReader::skip_to(std::string_view end, std::size_t start) {
    const auto found = text_.find(end, start);
    if (found == std::string_view::npos) return false;
    position_ = found + end.size();
    return true;
}

XmlReader::Event XmlReader::next() {
    constexpr char not_closed[] = "this tag is not closed; is the file cut off?";
    if (closes_itself_) {
        closes_itself_ = false;
        return close(element_.name, element_.position);
    }
    while (!done_) {
        const auto start = text_.find('<', position_);
        if (start == std::string_view::npos) {
            if (!open_.empty())
                return broken(open_.back().position, "<" + std::string(open_.back().name) + "> is not closed; is the file cut off?");
            break;
        }
        const std::string_view rest = text_.substr(start);
        const std::string_view end = rest.starts_with("<!--") ? "-->" : rest.starts_with("<?") ? "?>" : rest.starts_with("<!") ? ">" : "";
        if (end.empty()) {
            const auto event = read_tag(start);
            return event ? *event : broken(start, not_closed);
        }
        if (!skip_to(end, start)) return broken(start, not_closed);
    }
    return Event::end;
}

// nullopt: it does not end.
std::optional<XmlReader::Event> XmlReader::read_tag(std::size_t start) {
    std::size_t at = start + 1;
    const bool closes = at < text_.size() && text_[at] == '/';
    if (closes) ++at;
    const std::size_t name_start = at;
    while (at < text_.size() && text_[at] != '>' && text_[at] != '/' && !is_blank(text_[at])) ++at;
    const std::string_view name = text_.substr(name_start, at - name_start);
    const std::size_t attributes = at;
    char quote = 0;  // '>' may stand in quotes
    while (at < text_.size() && (quote != 0 || text_[at] != '>')) {
        if (quote != 0 ? text_[at] == quote : text_[at] == '"' || text_[at] == '\'') quote = quote != 0 ? '\0' : text_[at];
        if (quote == 0 && text_[at] == '<') return std::nullopt;
        ++at;
    }
    if (at == text_.size()) return std::nullopt;
    position_ = at + 1;
    if (closes) return close(name, start);
    element_ = {name, text_.substr(attributes, at - attributes), start};
    closes_itself_ = element_.attributes.ends_with('/');
    if (closes_itself_) element_.attributes.remove_suffix(1);
    if (open_.size() == most_levels) return broken(start, "more than " + std::to_string(most_levels) + " elements inside one another");
    open_.push_back(element_);
    return Event::open;
}

XmlReader::Event XmlReader::close(std::string_view name, std::size_t position) {
    if (open_.empty() || open_.back().name != name) {
        auto& error = diagnostics_.error(place(position), "</" + std::string(name) + "> closes nothing");
        if (!open_.empty())
            error.hints.push_back("<" + std::string(open_.back().name) + "> of line " + std::to_string(place(open_.back().position).line) +
                                  " is still open");
        done_ = true;
        return Event::broken;
    }
    element_ = open_.back();
    open_.pop_back();
    done_ = open_.empty();
    return Event::close;
}

std::optional<std::string> xml_attribute(const XmlReader::Element& element, std::string_view name) {
    std::string_view rest = element.attributes;
    for (;;) {
        // NAME = "VALUE", with blanks where they please
        const auto equals = rest.find('=');
        if (equals == std::string_view::npos) return std::nullopt;
        std::string_view key = rest.substr(0, equals);
        while (!key.empty() && is_blank(key.back())) key.remove_suffix(1);
        const auto blank = std::find_if(key.rbegin(), key.rend(), is_blank);
        key.remove_prefix(static_cast<std::size_t>(key.rend() - blank));
        rest.remove_prefix(equals + 1);
        while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
        if (rest.empty() || (rest.front() != '"' && rest.front() != '\'')) continue;
        const auto end = rest.find(rest.front(), 1);
        if (end == std::string_view::npos) return std::nullopt;
        if (key == name) return without_entities(rest.substr(1, end - 1));
        rest.remove_prefix(end + 1);
    }
}

}  // namespace paced::io
