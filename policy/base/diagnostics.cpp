// SPDX-License-Identifier: BSD-3-Clause
#include "policy/base/diagnostics.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "policy/base/printable.h"

namespace paced {

std::string to_string(const Location& location) {
    std::string text = location.file;
    for (int number : {location.line, location.column}) {
        if (number <= 0) break;
        if (!text.empty()) text += ':';
        text += std::to_string(number);
    }
    return text;
}

Diagnostic& Diagnostics::error(Location location, std::string message) {
    return entries_.emplace_back(Diagnostic{Severity::error, std::move(location), std::move(message), {}});
}

Diagnostic& Diagnostics::warning(Location location, std::string message) {
    return entries_.emplace_back(Diagnostic{Severity::warning, std::move(location), std::move(message), {}});
}

bool Diagnostics::has_errors() const {
    return std::any_of(entries_.begin(), entries_.end(), [](const Diagnostic& d) { return d.severity == Severity::error; });
}

void Diagnostics::append(const Diagnostics& others) {
    entries_.insert(entries_.end(), others.entries_.begin(), others.entries_.end());
}

void Diagnostics::sort_by_place() {
    std::stable_sort(entries_.begin(), entries_.end(), [](const Diagnostic& a, const Diagnostic& b) {
        return std::tie(a.location.line, a.location.column) < std::tie(b.location.line, b.location.column);
    });
}

std::string format(const Diagnostics& diagnostics) {
    std::string text;
    for (const Diagnostic& entry : diagnostics.entries()) {
        const std::string place = to_string(entry.location);
        if (!place.empty()) text += place + ": ";
        text += entry.severity == Severity::error ? "error: " : "warning: ";
        text += entry.message + '\n';
        for (const std::string& hint : entry.hints) text += "    hint: " + hint + '\n';
    }
    return printable(text);
}

}  // namespace paced
