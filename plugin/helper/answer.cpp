// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/helper/answer.h"

namespace paced::helper {

namespace {

// The shim takes 64 KiB and refuses more; some are left for what is no log line.
constexpr std::size_t log_room = 48 * 1024;

}  // namespace

Answer::Answer(std::string_view first) {
    if (!first.empty()) (text_ += first) += '\n';
}

void Answer::log(std::string_view text) {
    if (text_.size() + text.size() > log_room) {
        ++left_out_;
        return;
    }
    text_ += "log ";
    for (char c : text) text_ += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    text_ += '\n';
}

void Answer::log(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) log(line);
}

bool Answer::add(std::string_view kind, std::string_view value) {
    if (value.find_first_of(std::string_view("\n\0", 2)) != std::string_view::npos) return false;
    ((text_ += kind) += ' ') += value;
    text_ += '\n';
    return true;
}

std::string Answer::text() const {
    std::string all = text_;
    if (left_out_ > 0) all += "log   and " + std::to_string(left_out_) + " more lines\n";
    return all += "end\n";
}

}  // namespace paced::helper
