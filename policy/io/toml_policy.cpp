// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/toml_policy.h"

#include <optional>

#include "policy/base/text.h"
#include "policy/io/toml_pacing.h"
#include "policy/io/toml_table.h"
#include "policy/io/toml_tree.h"

namespace paced::io {

namespace {

using namespace config;

template <class T>
void take(TomlTable& table, std::string_view key, Result<T> (*parse)(std::string_view), std::optional<Located<T>>& to) {
    if (auto value = table.take_text(key, parse)) to = Located<T>{*std::move(value), table.place(key)};
}

Layer read_layer(TomlReader& reader, const TomlNode& source, std::string name) {
    Layer layer;
    TomlTable table(reader, source, std::move(name));
    take(table, "mode", parse_mode, layer.mode);
    take(table, "flag_mode", parse_mode, layer.flag_mode);
    take(table, "order", parse_order, layer.order);
    take(table, "bind", parse_bind, layer.bind);
    take(table, "window", parse_window, layer.window);
    take(table, "report", parse_report, layer.report);
    table.refuse_the_rest();
    return layer;
}

Result<Nanoseconds> parse_window_max(std::string_view text) {
    const auto value = parse_duration(text);
    if (value && *value <= std::chrono::seconds(10)) return *value;
    return fail("bad window_max " + in_quotes(text), {"valid: '0', or a time of at most 10 s with its unit, such as '100ms'"});
}

Limits read_limits(TomlReader& reader, const TomlNode& source) {
    Limits limits;
    TomlTable table(reader, source, "[limits]");
    std::optional<Located<Nanoseconds>> window_max;
    take(table, "window_max", parse_window_max, window_max);
    if (window_max) limits.window_max = *window_max;

    constexpr std::string_view percent = "exploration_max_percent";
    if (const auto value = table.take_number(percent, 0, 0.5, {}, false)) limits.exploration_max_percent = {*value, table.place(percent)};

    std::optional<Located<PortRange>> ports;
    take(table, "exchange_ports", parse_port_range, ports);
    if (ports) {
        limits.exchange_ports = *ports;
        if (ports->value.low <= 60999 && ports->value.high >= 32768)
            reader.diagnostics()
                .warning(ports->where, "exchange_ports " + to_string(ports->value) + " meets the ports that Linux gives to any program, 32768-60999")
                .hints.push_back("a port in use is skipped, but a range outside, such as '61000-61999', saves the attempts");
    }
    table.refuse_the_rest();
    return limits;
}

constexpr int most_nodes = 1'000'000;

Match read_match(TomlReader& reader, const TomlNode& source) {
    Match match;
    TomlTable table(reader, source, "a rule's match");
    table.take_names("partition", match.partition);
    table.take_names("account", match.account);
    table.take_names("qos", match.qos);
    table.take_names("user", match.user);
    match.min_nodes = table.take_whole("min_nodes", 1, most_nodes).value_or(0);
    match.max_nodes = table.take_whole("max_nodes", 1, most_nodes).value_or(0);
    if (match.max_nodes != 0 && match.max_nodes < match.min_nodes)
        reader.error(table.place("max_nodes"), "max_nodes " + std::to_string(match.max_nodes) + " is less than min_nodes " +
                                                   std::to_string(match.min_nodes) + ": the rule could never match");
    table.refuse_the_rest();
    return match;
}

Rule read_rule(TomlReader& reader, const TomlNode& source) {
    Rule rule;
    rule.where = reader.where(source);
    TomlTable table(reader, source, "[[rule]]");
    if (const TomlNode* match = table.take_table("match")) {
        if (match->items.empty())
            reader.error(reader.where(*match), "an empty match").hints.push_back("what is to hold for every job stands in [defaults]");
        rule.match = read_match(reader, *match);
    } else if (!table.has("match")) {
        reader.error(rule.where, "a rule without 'match'").hints.push_back("what is to hold for every job stands in [defaults]");
    }
    if (const TomlNode* set = table.take_table("set")) {
        if (set->items.empty()) reader.error(reader.where(*set), "an empty set: the rule would change nothing");
        rule.set = read_layer(reader, *set, "a rule's set");
    } else if (!table.has("set")) {
        reader.error(rule.where, "a rule without 'set': it would change nothing").hints.push_back("write set = { mode = \"observe\" }, or any key of [defaults]");
    }
    table.refuse_the_rest();
    return rule;
}

void read_policies(TomlReader& reader, const TomlNode& source, std::vector<NamedPolicy>& policies) {
    for (std::size_t i = 0; i < source.items.size(); ++i) {
        const TomlKey& key = source.keys[i];
        const TomlNode& entry = source.items[i];
        if (const auto error = check_policy_name(key.text)) reader.error(reader.where(key), error->message).hints = error->hints;
        if (entry.is_table()) {
            const std::string title = "[policy." + key.text + ']';
            if (entry.items.empty()) reader.error(reader.where(key), title + " sets nothing");
            policies.push_back({key.text, reader.where(key), read_layer(reader, entry, title)});
        } else {
            reader.wrong_type(key.text, "a table", entry).hints.push_back("a named policy begins with [policy.NAME]");
        }
    }
}

void warn_of_cuts(TomlReader& reader, const SitePolicy& policy) {
    const auto check = [&](const Layer& layer) {
        if (!layer.window || layer.window->value.automatic || layer.window->value.longest <= policy.limits.window_max.value) return;
        reader.diagnostics().warning(layer.window->where, "window " + to_string(layer.window->value) + " will be cut to window_max " +
                                                              format_duration(policy.limits.window_max.value));
    };
    check(policy.defaults);
    for (const Rule& rule : policy.rules) check(rule.set);
    for (const NamedPolicy& named : policy.policies) check(named.set);

    constexpr std::string_view percent = "exploration_percent";
    const double asked = policy.pacing.tuning.exploration_percent, most = policy.limits.exploration_max_percent.value;
    if (const auto place = policy.pacing.where.find(percent); place != policy.pacing.where.end() && asked > most)
        reader.diagnostics().warning(place->second, std::string(percent) + ' ' + number_text(asked) + " will be cut to exploration_max_percent " + number_text(most));
}

void read_top(TomlReader& reader, const TomlNode& source, SitePolicy& policy) {
    const Location start{policy.file, 1, 1};
    if (source.items.empty()) {
        reader.error(start, "the policy is empty").hints.push_back("to use what is built in, remove the file; etc/policy.toml of the source shows every key");
        return;
    }
    TomlTable top(reader, source, {});
    if (!top.take_schema(newest_schema)) return;
    if (const TomlNode* defaults = top.take_table("defaults")) policy.defaults = read_layer(reader, *defaults, "[defaults]");
    if (const TomlNode* limits = top.take_table("limits")) policy.limits = read_limits(reader, *limits);
    if (const TomlNode* pacing = top.take_table("pacing")) policy.pacing = read_pacing(reader, *pacing);
    for (const TomlNode* rule : top.take_tables("rule", "each rule begins with [[rule]], in two pairs of brackets")) policy.rules.push_back(read_rule(reader, *rule));
    if (const TomlNode* policies = top.take_table("policy")) read_policies(reader, *policies, policy.policies);
    top.refuse_the_rest();
    if (const std::size_t size = pacing_text(policy.pacing, policy.limits).size(); size > pacing_text_longest)
        reader.error(policy.pacing.where.begin()->second, "[pacing] is too long to be handed to a job: " + std::to_string(size) + " characters of at most " +
                                                              std::to_string(pacing_text_longest));
    warn_of_cuts(reader, policy);
}

}  // namespace

SitePolicy parse_site_policy(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    SitePolicy policy;
    policy.file = file;
    Diagnostics found;
    TomlReader reader(file, found);
    if (const auto top = parse_toml(text, file, found)) read_top(reader, *top, policy);
    found.sort_by_place();
    diagnostics.append(found);
    return policy;
}

}  // namespace paced::io
