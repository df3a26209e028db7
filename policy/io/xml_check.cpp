// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/xml_check.h"

#include <algorithm>
#include <vector>

#include "policy/base/text.h"

namespace paced::io {

namespace {

// Walks over the tags of a text. No entities, no namespaces, no judgement of attributes: where tags open and close.
class TagScanner {
public:
    explicit TagScanner(std::string_view text) : text_(text) {}

    struct Tag {
        std::string_view name;        // without '/'
        std::string_view attributes;  // the text between the name and the end
        std::size_t position = 0;     // of '<'
        bool closes = false;          // </name>
        bool empty = false;           // <name/>
    };

    // nullopt at the end of the text, or where a tag does not end: then broken() says where it began.
    std::optional<Tag> next() {
        for (;;) {
            const auto open = text_.find('<', position_);
            if (open == std::string_view::npos) return std::nullopt;
            const std::string_view rest = text_.substr(open);
            if (rest.starts_with("<!--")) {
                if (!skip_to("-->", open)) return std::nullopt;
            } else if (rest.starts_with("<?")) {
                if (!skip_to("?>", open)) return std::nullopt;
            } else if (rest.starts_with("<!")) {
                if (!skip_to(">", open)) return std::nullopt;
            } else {
                return read_tag(open);
            }
        }
    }

    std::optional<std::size_t> broken() const { return broken_; }

    Location place(const std::string& file, std::size_t position) const {
        const std::string_view before = text_.substr(0, position);
        const auto line_start = before.rfind('\n');
        return {file, 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')),
                1 + static_cast<int>(line_start == std::string_view::npos ? position : position - line_start - 1)};
    }

private:
    bool skip_to(std::string_view end, std::size_t open) {
        const auto found = text_.find(end, open);
        if (found == std::string_view::npos) {
            broken_ = open;
            return false;
        }
        position_ = found + end.size();
        return true;
    }

    std::optional<Tag> read_tag(std::size_t open) {
        Tag tag;
        tag.position = open;
        std::size_t at = open + 1;
        if (at < text_.size() && text_[at] == '/') {
            tag.closes = true;
            ++at;
        }
        const std::size_t name = at;
        while (at < text_.size() && text_[at] != '>' && text_[at] != '/' && !is_blank(text_[at])) ++at;
        tag.name = text_.substr(name, at - name);
        const std::size_t attributes = at;
        char quote = 0;  // '>' may stand in quotes
        while (at < text_.size() && (quote != 0 || text_[at] != '>')) {
            if (quote != 0 ? text_[at] == quote : text_[at] == '"' || text_[at] == '\'') quote = quote != 0 ? '\0' : text_[at];
            if (quote == 0 && text_[at] == '<') break;
            ++at;
        }
        if (at == text_.size() || text_[at] != '>') {
            broken_ = open;
            return std::nullopt;
        }
        tag.attributes = text_.substr(attributes, at - attributes);
        tag.empty = tag.attributes.ends_with('/');
        position_ = at + 1;
        return tag;
    }

    static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

    std::string_view text_;
    std::size_t position_ = 0;
    std::optional<std::size_t> broken_;
};

std::optional<std::string> attribute(std::string_view attributes, std::string_view name) {
    const auto found = attributes.find(' ' + std::string(name) + "=\"");
    if (found == std::string_view::npos) return std::nullopt;
    const auto start = found + name.size() + 3;
    return std::string(attributes.substr(start, attributes.find('"', start) - start));
}

}  // namespace

std::optional<std::string> check_hwloc_xml(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
        diagnostics.error({file, 0, 0}, "not a text file: it holds a NUL byte");
        return std::nullopt;
    }
    TagScanner scanner(text);
    std::optional<std::string> version;
    std::vector<TagScanner::Tag> open;
    while (const auto tag = scanner.next()) {
        if (!version) {
            if (tag->name != "topology") {
                diagnostics.error(scanner.place(file, tag->position),
                                  "not an hwloc XML: its first element is <" + std::string(tag->name) + ">, not <topology>");
                return std::nullopt;
            }
            version = attribute(tag->attributes, "version").value_or("1");
            const auto major = parse_integer(std::string_view(*version).substr(0, version->find('.')));
            if (!major || *major < 1 || *major > 2) {
                diagnostics
                    .error(scanner.place(file, tag->position), "hwloc XML of version " + *version + ": hwloc 2 reads versions 1 and 2 only")
                    .hints.push_back("on the machine that wrote it, `lstopo --export-xml-flags v2 FILE.xml` writes version 2");
                return std::nullopt;
            }
        }
        if (tag->closes) {
            if (open.empty() || open.back().name != tag->name) {
                auto& error = diagnostics.error(scanner.place(file, tag->position), "</" + std::string(tag->name) + "> closes nothing");
                if (!open.empty())
                    error.hints.push_back("<" + std::string(open.back().name) + "> of line " +
                                          std::to_string(scanner.place(file, open.back().position).line) + " is still open");
                return std::nullopt;
            }
            open.pop_back();
            if (open.empty()) return version;
        } else if (!tag->empty) {
            open.push_back(*tag);
        }
    }
    if (scanner.broken()) {
        diagnostics.error(scanner.place(file, *scanner.broken()), "this tag is not closed; is the file cut off?");
    } else if (!open.empty()) {
        diagnostics.error(scanner.place(file, open.back().position),
                          "<" + std::string(open.back().name) + "> is not closed; is the file cut off?");
    } else {
        diagnostics.error({file, 0, 0}, "not an hwloc XML: it holds no <topology> element");
    }
    return std::nullopt;
}

}  // namespace paced::io
