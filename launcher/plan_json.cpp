// SPDX-License-Identifier: BSD-3-Clause
// `paced plan --json`. One binding and one host's ranks a line: 80,000 ranks are no more text than they must be, and a
// person can still read them.
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "launcher/plan.h"

namespace paced::launcher {

namespace {

using Json = nlohmann::ordered_json;

std::string compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

void add_bindings(std::string& text, const report::NodePlan& plan) {
    text += " \"bindings\": [";
    for (std::size_t i = 0; i < plan.bindings.size(); ++i) text += (i == 0 ? "\n  " : ",\n  ") + to_json(plan.bindings[i]);
    text += plan.bindings.empty() ? "],\n" : "\n ],\n";
    text += " \"warnings\": " + compact(plan.notes);
}

void add_ranks(std::string& text, const OrderPlanned& order) {
    text += "  \"ranks\": [";
    long long rank = 0;
    for (const std::string& host : order.view.hosts) {
        const std::string name = compact(host);
        text += rank == 0 ? "\n   " : ",\n   ";
        for (int local = 0; local < order.tasks_per_node; ++local, ++rank) {
            if (local > 0) text += ", ";
            text.append("[").append(std::to_string(rank)).append(",").append(name).append(",").append(std::to_string(local)).append("]");
        }
    }
    text += "\n  ],\n";
}

Json cost_of(const report::OrderView& view) {
    Json levels = Json::array();
    for (const report::OrderCost& level : view.levels)
        levels.push_back({{"level", level.level}, {"chosen", level.chosen}, {"submitted", level.submitted}, {"lower_bound", level.lower_bound}});
    Json cost{{"chosen", nullptr}, {"submitted", nullptr}, {"lower_bound", nullptr}};
    if (!view.levels.empty()) {
        const report::OrderCost& leaf = view.levels.back();
        cost = {{"chosen", leaf.chosen}, {"submitted", leaf.submitted}, {"lower_bound", leaf.lower_bound}};
    }
    cost["levels"] = std::move(levels);
    return cost;
}

void add_order(std::string& text, const OrderPlanned& order) {
    text += " \"order\": {\n  \"pattern\": " + compact(order.view.pattern) + ",\n  \"hosts\": " + compact(order.view.hosts) + ",\n";
    add_ranks(text, order);
    text += "  \"cost\": " + compact(cost_of(order.view)) + ",\n  \"leaves\": " + std::to_string(order.view.leaves) +
            ",\n  \"improves\": " + (order.view.improves ? "true" : "false") + ",\n  \"reasons\": " + compact(order.view.reasons) + "\n }";
}

}  // namespace

std::string plan_json(const Planned& planned) {
    std::string text = "{\n";
    if (planned.node) add_bindings(text, planned.node->plan);
    if (planned.node && planned.order) text += ",\n";
    if (planned.order) add_order(text, *planned.order);
    return text + "\n}\n";
}

}  // namespace paced::launcher
