// SPDX-License-Identifier: BSD-3-Clause
// The elements of an XML text one by one, each with its place in the text: for readers that must say where something is wrong.
// No name spaces, no document type, no text between tags; attributes as they are asked for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/diagnostics.h"

namespace paced::io {

class XmlReader {
public:
    static constexpr std::size_t most_levels = 256;  // deeper ones are refused

    struct Element {
        std::string_view name;
        std::string_view attributes;  // the text behind the name
        std::size_t position = 0;     // of '<' in the text
    };
    enum class Event { open, close, end, broken };

    // text and diagnostics must outlive it; file is the name of the text in diagnostics.
    XmlReader(std::string_view text, std::string file, Diagnostics& diagnostics)
        : text_(text), file_(std::move(file)), diagnostics_(diagnostics) {}

    // open and close: element() is the one (<a/> opens and closes). end: the first element of all is closed, or there is none. broken: the
    // text cannot be read on, and diagnostics say why.
    Event next();
    const Element& element() const { return element_; }
    // The elements that are open, outermost first; after open with the one just opened, after close without the one just closed.
    const std::vector<Element>& open() const { return open_; }

    Location place(std::size_t position) const;
    Location here() const { return place(element_.position); }

private:
    std::optional<Event> read_tag(std::size_t start);
    Event close(std::string_view name, std::size_t position);
    bool skip_to(std::string_view end, std::size_t start);
    Event broken(std::size_t position, std::string message);

    std::string_view text_;
    std::string file_;
    Diagnostics& diagnostics_;
    std::size_t position_ = 0;
    Element element_;
    std::vector<Element> open_;
    bool closes_itself_ = false;  // the element just opened
    bool done_ = false;
};

// The value of an attribute, the five entities and numbers (&#65;) of XML put in; nullopt: it has none of that name.
std::optional<std::string> xml_attribute(const XmlReader::Element& element, std::string_view name);

}  // namespace paced::io
