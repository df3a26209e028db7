// SPDX-License-Identifier: BSD-3-Clause
// Where the step's nodes hang, and the order that was worked out for them.
#include "policy/base/text.h"
#include "policy/report/ranges.h"
#include "policy/report/text_order.h"
#include "policy/report/text_parts.h"

namespace paced::report {

namespace {

constexpr std::size_t leaves_shown_max = 8;

std::string plural_of(std::string_view level) { return level == "leaf" ? "leaves" : std::string(level) + 's'; }

std::string figures(const OrderCost& cost) {
    std::string text = std::to_string(cost.submitted);
    if (cost.chosen != cost.submitted) text += " as submitted, " + std::to_string(cost.chosen) + " in the chosen order";
    if (cost.chosen <= cost.lower_bound) text += ", the fewest possible";
    return text;
}

}  // namespace

bool order_wanted(const OrderView& order) { return !order.pattern.empty() && order.pattern != "none"; }

std::string cost_unit(std::string_view pattern, std::string_view level) {
    const std::string between = " between " + plural_of(level);
    if (pattern == "tree") return "edges of the double binary tree" + between;
    if (pattern == "alltoall") return "messages out of the busiest " + std::string(level) + " in one step";
    if (pattern.find('=') != std::string_view::npos) return "weighted traffic of the grid" + between;
    return "steps of the ring" + between;
}

std::string leaf_cost_text(const OrderView& order) {
    if (order.levels.empty()) return {};
    const OrderCost& leaf = order.levels.back();
    return cost_unit(order.pattern, leaf.level) + ": " + figures(leaf);
}

std::string cost_text(const OrderView& order) {
    std::string text = leaf_cost_text(order);
    for (std::size_t i = order.levels.empty() ? 0 : order.levels.size() - 1; i-- > 0;)
        if (const OrderCost& cost = order.levels[i]; cost.submitted > 0 || cost.chosen > 0)
            text += "; between " + plural_of(cost.level) + ": " + figures(cost);
    return text;
}

void add_fabric(Block& block, const FabricView& fabric, const OrderView& order) {
    if (fabric.source.empty() && fabric.problem.empty()) return;
    if (fabric.leaves.empty()) {
        block.add("fabric", fabric.problem.empty() ? fabric.source + " names none of these nodes" : fabric.problem);
        return;
    }
    std::string text = count_of(static_cast<long long>(fabric.leaves.size()), "leaf", "leaves") + ", from " + fabric.source + ": ";
    for (std::size_t i = 0; i < fabric.leaves.size() && i < leaves_shown_max; ++i)
        text += (i > 0 ? "; " : "") + fabric.leaves[i].name + ' ' + shortened(compress_hosts(fabric.leaves[i].hosts), 60);
    if (fabric.leaves.size() > leaves_shown_max)
        text += "; and " + std::to_string(fabric.leaves.size() - leaves_shown_max) + " more";
    block.add("fabric", text);
    if (!fabric.problem.empty()) block.add({}, fabric.problem);
    if (!fabric.unknown.empty()) block.add({}, "no leaf is known for " + shortened(compress_hosts(fabric.unknown), 60));
    if (fabric.leaves.size() > 1 && !order_wanted(order)) {
        std::string ring = "a ring over the ranks changes leaves " + count_of(fabric.crossings, "time");
        if (fabric.crossings <= fabric.crossings_least) ring += ", the fewest possible";
        else ring += "; --paced-fabric-order=ring would need " + std::to_string(fabric.crossings_least);
        block.add({}, ring);
    }
}

void add_order(Block& block, const OrderView& order, Level level) {
    if (!order_wanted(order)) return;
    const std::string hosts = shortened(compress_hosts(order.hosts), 60);
    std::string text = "for " + order.pattern;
    if (!order.source.empty()) text += " (" + order.source + ')';
    if (order.applied) text += ": applied, nodes in the order " + hosts;
    else if (!order.kept_because.empty()) text += ": the submitted order is kept, " + order.kept_because;
    else if (order.improves) text += ": not applied, only shown; it would be " + hosts;
    else text += ": nothing is known of it";
    block.add("order", text);
    if (const std::string cost = cost_text(order); !cost.empty()) block.add({}, cost);
    if (level != Level::full) return;
    for (const std::string& reason : order.reasons)
        if (reason != order.kept_because) block.add("reason", "order: " + reason);
}

}  // namespace paced::report
