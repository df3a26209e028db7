// SPDX-License-Identifier: BSD-3-Clause
// Diagnostics: everything that is wrong with what a person wrote, collected so that one run shows every mistake.
// The core records; only programs print (format()).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paced {

// A place in an input. line and column count from 1; 0 means unknown and is left out of the text.
struct Location {
    std::string file;
    int line = 0;
    int column = 0;

    friend bool operator==(const Location&, const Location&) = default;
};

// "file:line:column", without the parts that are unknown.
std::string to_string(const Location& location);

enum class Severity { error, warning };

struct Diagnostic {
    Severity severity = Severity::error;
    Location location;
    std::string message;             // one line, no full stop
    std::vector<std::string> hints;  // what a person can do about it
};

class Diagnostics {
public:
    Diagnostic& error(Location location, std::string message);
    Diagnostic& warning(Location location, std::string message);

    bool has_errors() const;
    bool empty() const { return entries_.empty(); }
    const std::vector<Diagnostic>& entries() const { return entries_; }
    void append(const Diagnostics& others);
    // In the order of the input, for readers that find mistakes in another one.
    void sort_by_place();

private:
    std::vector<Diagnostic> entries_;
};

// "file:3:7: error: unknown key 'mod'\n    hint: did you mean 'mode'?\n", one paragraph an entry.
std::string format(const Diagnostics& diagnostics);

}  // namespace paced
