// SPDX-License-Identifier: BSD-3-Clause
// The helper's answer to the shim (PROTOCOL.md). It is kept and written at the end in one piece, so that a helper
// that dies in the middle has said nothing. Never longer than the shim takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paced::helper {

class Answer {
public:
    // first: "paced-fabric-step 1"; empty: the answer starts with its lines.
    explicit Answer(std::string_view first = {});

    // A line for the job's log. Control characters become '?'; what does not fit is counted and told at the end.
    void log(std::string_view text);
    void log(const std::vector<std::string>& lines);
    // Any other line, "env NAME=VALUE". A value with a newline cannot be carried: false, and nothing is added.
    bool add(std::string_view kind, std::string_view value);

    // Everything, with the last line.
    std::string text() const;

private:
    std::string text_;
    std::size_t left_out_ = 0;
};

}  // namespace paced::helper
