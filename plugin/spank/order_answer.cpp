// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/spank/order_answer.h"

namespace paced::spank {
namespace {

// It ends up in an environment and in job logs.
bool is_plain(std::string_view text) noexcept {
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
    }
    return true;
}

const char* take(std::string_view line, OrderAnswer& answer) noexcept {
    if (cut_prefix(line, "placed ")) {
        if (!answer.placed.empty()) return "two placed lines";
        answer.placed = line;
        std::string_view kind = line;
        if (!cut_prefix(kind, "kept ") && !cut_prefix(kind, "ordered ")) return "neither kept nor ordered";
        return line.size() < placed_limit && is_plain(line) ? nullptr : "a placed line that cannot be handed on";
    }
    if (!cut_prefix(line, "order ")) return "a line that the protocol does not know";
    if (answer.tasks_per_node != 0) return "two orders";
    if (!parse_number(cut_until(line, ' '), answer.tasks_per_node) || answer.tasks_per_node == 0 || line.empty()) return "an order that is none";
    answer.positions = line;
    return nullptr;
}

}  // namespace

const char* OrderAnswer::parse(std::string_view text) noexcept {
    *this = {};
    const char* wrong = nullptr;
    if (!cut_prefix(text, "paced-fabric-order 1\n")) wrong = "not begun by \"paced-fabric-order 1\"";
    bool ended = false;
    while (wrong == nullptr && !ended) {
        if (text.find('\n') == std::string_view::npos) {
            wrong = "no last line \"end\"";
            break;
        }
        const std::string_view line = cut_until(text, '\n');
        ended = line == "end";
        if (!ended) wrong = take(line, *this);
        else if (!text.empty()) wrong = "something behind its last line";
    }
    std::string_view kind = placed;
    if (wrong == nullptr && (tasks_per_node != 0) != cut_prefix(kind, "ordered ")) wrong = "an order that it says nothing of, or none that it speaks of";
    if (wrong != nullptr) *this = {};
    return wrong;
}

}  // namespace paced::spank
