// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/xml_check.h"

#include "policy/base/text.h"
#include "policy/io/xml_reader.h"

namespace paced::io {

namespace {

// The version that the first element tells; nullopt, with an error: hwloc 2 cannot read it.
std::optional<std::string> read_version(const XmlReader& reader, Diagnostics& diagnostics) {
    const XmlReader::Element& first = reader.element();
    if (first.name != "topology") {
        diagnostics.error(reader.here(), "not an hwloc XML: its first element is <" + std::string(first.name) + ">, not <topology>")
            .hints.push_back("hwloc's XML begins with <topology>, NCCL's with <system>");
        return std::nullopt;
    }
    std::string version = xml_attribute(first, "version").value_or("1");
    const auto major = parse_integer(std::string_view(version).substr(0, version.find('.')));
    if (major && *major >= 1 && *major <= 2) return version;
    diagnostics.error(reader.here(), "hwloc XML of version " + version + ": hwloc 2 reads versions 1 and 2 only")
        .hints.push_back("on the machine that wrote it, `lstopo --export-xml-flags v2 FILE.xml` writes version 2");
    return std::nullopt;
}

}  // namespace

std::optional<std::string> check_hwloc_xml(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    if (text.find('\0') != std::string_view::npos) {
        diagnostics.error({file, 0, 0}, "not a text file: it holds a NUL byte");
        return std::nullopt;
    }
    XmlReader reader(text, file, diagnostics);
    std::optional<std::string> version;
    for (;;) {
        switch (reader.next()) {
            case XmlReader::Event::open:
                if (!version) version = read_version(reader, diagnostics);
                if (!version) return std::nullopt;
                break;
            case XmlReader::Event::close:
                break;
            case XmlReader::Event::end:
                if (!version) diagnostics.error({file, 0, 0}, "not an hwloc XML: it holds no <topology> element");
                return version;
            case XmlReader::Event::broken:
                return std::nullopt;
        }
    }
}

}  // namespace paced::io
