// SPDX-License-Identifier: BSD-3-Clause
// The one file that compiles toml++, without its exceptions and printers: that is most of its cost.
#include "policy/io/toml_policy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "policy/base/text.h"

// With NDEBUG toml++ 3.3 turns its assertions into promises to the optimizer, without it into aborts; both are wrong
// where a file can break one, as the table header "[=]" does. What follows each of them copes.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace paced::io {

namespace {

using namespace config;

std::string quoted(std::string_view text) { return '\'' + std::string(text) + '\''; }

std::string_view type_name(const toml::node& node) {
    switch (node.type()) {
        case toml::node_type::table: return "a table";
        case toml::node_type::array: return "an array";
        case toml::node_type::string: return "a string";
        case toml::node_type::integer: return "an integer";
        case toml::node_type::floating_point: return "a number";
        case toml::node_type::boolean: return "a boolean";
        default: return "a date or time";
    }
}

class Reader {
public:
    Reader(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

    Location where(const toml::source_region& region) const {
        return {file_, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
    }
    Location where(const toml::node& node) const { return where(node.source()); }

    Diagnostic& error(Location place, std::string message) { return diagnostics_.error(std::move(place), std::move(message)); }
    Diagnostic& wrong_type(std::string_view key, std::string_view expected, const toml::node& node) {
        return error(where(node), quoted(key).append(" must be ").append(expected).append(", not ").append(type_name(node)));
    }

    Diagnostics& diagnostics() { return diagnostics_; }

private:
    const std::string& file_;
    Diagnostics& diagnostics_;
};

// One table whose keys are all known: each is asked for once, and what nobody asked for is an error.
class Table {
public:
    // name: "[defaults]", or empty for the top level
    Table(Reader& reader, const toml::table& table, std::string name) : reader_(reader), table_(table), name_(std::move(name)) {}

    const toml::node* take(std::string_view key) {
        known_.push_back(key);
        return table_.get(key);
    }

    const toml::table* take_table(std::string_view key) {
        const toml::node* node = take(key);
        if (node == nullptr) return nullptr;
        if (!node->is_table()) reader_.wrong_type(key, "a table", *node);
        return node->as_table();
    }

    // A string that parse makes a value of.
    template <class T>
    void take_text(std::string_view key, Result<T> (*parse)(std::string_view), std::optional<Located<T>>& to) {
        const toml::node* node = take(key);
        if (node == nullptr) return;
        const auto* text = node->as_string();
        if (text == nullptr) {
            reader_.wrong_type(key, "a string", *node);
        } else if (auto value = parse(text->get())) {
            to = Located<T>{*std::move(value), reader_.where(*node)};
        } else {
            reader_.error(reader_.where(*node), value.error().message).hints = value.error().hints;
        }
    }

    // A string, or an array of them.
    void take_names(std::string_view key, std::vector<std::string>& to) {
        constexpr std::string_view expected = "a string or an array of strings";
        const toml::node* node = take(key);
        if (node == nullptr) return;
        if (const auto* array = node->as_array()) {
            if (array->empty()) reader_.error(reader_.where(*node), quoted(key) + " is an empty array and could never match");
            for (const toml::node& element : *array) add_name(key, element, expected, to);
        } else {
            add_name(key, *node, expected, to);
        }
    }

    void take_count(std::string_view key, int& to) {
        const toml::node* node = take(key);
        if (node == nullptr) return;
        const auto* number = node->as_integer();
        if (number == nullptr) {
            reader_.wrong_type(key, "an integer", *node);
        } else if (number->get() < 1 || number->get() > 1'000'000) {
            reader_.error(reader_.where(*node), quoted(key) + " must be from 1 to 1000000");
        } else {
            to = static_cast<int>(number->get());
        }
    }

    // A number within limits. nullopt: the key is not there; an empty inner one: it is wrong, which has been told.
    std::optional<std::optional<double>> take_number(std::string_view key, double least, double most, std::string_view unit, bool whole) {
        const toml::node* node = take(key);
        if (node == nullptr) return std::nullopt;
        const auto value = node->value<double>();
        if (!node->is_number() || !value) {
            reader_.wrong_type(key, "a number", *node);
        } else if (!(*value >= least && *value <= most)) {
            std::string message = quoted(key) + " must be from " + number_text(least) + " to " + number_text(most);
            if (!unit.empty()) message.append(" (").append(unit).append(")");
            reader_.error(reader_.where(*node), std::move(message));
        } else if (whole && *value != std::floor(*value)) {
            reader_.error(reader_.where(*node), quoted(key) + " must be a whole number");
        } else {
            return value;
        }
        return std::optional<double>{};
    }

    Location place(std::string_view key) const { return reader_.where(*table_.get(key)); }

    // instead: what is said where all valid keys would be too many to list.
    void refuse_the_rest(std::string_view instead = {}) {
        for (const auto& [key, value] : table_) {
            if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
            std::string message = "unknown key " + quoted(key.str());
            if (!name_.empty()) message += " in " + name_;
            std::vector<std::string>& hints = reader_.error(reader_.where(key.source()), std::move(message)).hints;
            hints = hints_for(key.str(), known_);
            if (!instead.empty()) hints.back() = instead;
        }
    }

private:
    void add_name(std::string_view key, const toml::node& node, std::string_view expected, std::vector<std::string>& to) {
        const auto* text = node.as_string();
        if (text == nullptr)
            reader_.wrong_type(key, expected, node);
        else if (text->get().empty())
            reader_.error(reader_.where(node), quoted(key) + " holds an empty name");
        else
            to.push_back(text->get());
    }

    Reader& reader_;
    const toml::table& table_;
    std::string name_;
    std::vector<std::string_view> known_;
};

Layer read_layer(Reader& reader, const toml::table& source, std::string name) {
    Layer layer;
    Table table(reader, source, std::move(name));
    table.take_text("mode", parse_mode, layer.mode);
    table.take_text("flag_mode", parse_mode, layer.flag_mode);
    table.take_text("order", parse_order, layer.order);
    table.take_text("bind", parse_bind, layer.bind);
    table.take_text("window", parse_window, layer.window);
    table.take_text("report", parse_report, layer.report);
    table.refuse_the_rest();
    return layer;
}

Result<Nanoseconds> parse_window_max(std::string_view text) {
    const auto value = parse_duration(text);
    if (value && *value <= std::chrono::seconds(10)) return *value;
    return fail("bad window_max " + quoted(text), {"valid: '0', or a time of at most 10 s with its unit, such as '100ms'"});
}

Limits read_limits(Reader& reader, const toml::table& source) {
    Limits limits;
    Table table(reader, source, "[limits]");
    std::optional<Located<Nanoseconds>> window_max;
    table.take_text("window_max", parse_window_max, window_max);
    if (window_max) limits.window_max = *window_max;

    constexpr std::string_view percent = "exploration_max_percent";
    if (const auto value = table.take_number(percent, 0, 0.5, {}, false); value && *value) limits.exploration_max_percent = {**value, table.place(percent)};

    std::optional<Located<PortRange>> ports;
    table.take_text("exchange_ports", parse_port_range, ports);
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

// Of two constants that contradict each other the one that the file sets is wrong, and of two such the second.
void check_pacing_orders(Reader& reader, const Pacing& pacing) {
    for (const auto& [lower, upper] : pacing_orders) {
        const PacingConstant &low = *find_pacing_constant(lower), &high = *find_pacing_constant(upper);
        const double least = pacing.tuning.*low.value, most = pacing.tuning.*high.value;
        if (least <= most) continue;
        const auto place = pacing.where.contains(upper) ? pacing.where.find(upper) : pacing.where.find(lower);
        const std::string message = std::string(lower) + ' ' + number_text(least) + " is more than " + std::string(upper) + ' ' + number_text(most);
        reader.error(place->second, message).hints.push_back("built in: " + std::string(lower) + ' ' + number_text(low.standard) + ", " + std::string(upper) + ' ' +
                                                             number_text(high.standard));
    }
}

// Each method of a benchmark needs its arms, and no other one takes them.
void check_arms_of_method(Reader& reader, const toml::table& source, const Pacing& pacing) {
    struct Needs {
        pacing::Method method;
        const char *key, *example;
    };
    for (const auto& [method, key, example] : {Needs{pacing::Method::fixed, "arm", "admit:1"}, Needs{pacing::Method::comparison, "arms", "off,admit:1"}}) {
        const bool named = pacing.tuning.method == method;
        if (named && !source.contains(key))
            reader.error(pacing.where.at("method"), "method " + quoted(to_string(method)) + " without " + quoted(key))
                .hints.push_back("such as " + std::string(key) + " = \"" + example + '"');
        const auto place = pacing.where.find(key);
        if (named || place == pacing.where.end()) continue;
        if (source.contains("method") && !pacing.where.contains("method")) continue;  // which one was meant is not known
        reader.error(place->second, quoted(key) + " beside method " + quoted(to_string(pacing.tuning.method)))
            .hints.push_back(quoted(key) + " is for method " + quoted(to_string(method)));
    }
}

Pacing read_pacing(Reader& reader, const toml::table& source) {
    Pacing pacing;
    Table table(reader, source, "[pacing]");
    std::optional<Located<pacing::Method>> method;
    table.take_text("method", parse_method, method);
    if (method) {
        pacing.tuning.method = method->value;
        pacing.where.emplace("method", method->where);
    }
    std::optional<Located<std::string>> arm, arms, without;
    table.take_text("arm", parse_arm, arm);
    table.take_text("arms", parse_arms, arms);
    table.take_text("without", parse_without, without);
    if (without) {
        pacing.without = without->value;
        pacing.where.emplace("without", without->where);
    }
    if (arm) {
        pacing.arm = arm->value;
        pacing.where.emplace("arm", arm->where);
    }
    if (arms) {
        pacing.arms = arms->value;
        pacing.where.emplace("arms", arms->where);
    }
    bool good = true;
    for (const PacingConstant& constant : pacing_constants) {
        const auto value = table.take_number(constant.name, constant.least, constant.most, constant.unit, constant.is_whole());
        if (!value) continue;
        good = good && value->has_value();
        if (!*value) continue;
        pacing.tuning.*constant.value = **value;
        pacing.where.emplace(constant.name, table.place(constant.name));
    }
    table.refuse_the_rest("valid: 'method', 'arm', 'arms', 'without' and the constants that etc/policy.toml of the source shows");
    if (good) check_pacing_orders(reader, pacing);

    check_arms_of_method(reader, source, pacing);
    return pacing;
}

Match read_match(Reader& reader, const toml::table& source) {
    Match match;
    Table table(reader, source, "a rule's match");
    table.take_names("partition", match.partition);
    table.take_names("account", match.account);
    table.take_names("qos", match.qos);
    table.take_names("user", match.user);
    table.take_count("min_nodes", match.min_nodes);
    table.take_count("max_nodes", match.max_nodes);
    if (match.max_nodes != 0 && match.max_nodes < match.min_nodes)
        reader.error(table.place("max_nodes"), "max_nodes " + std::to_string(match.max_nodes) + " is less than min_nodes " +
                                                   std::to_string(match.min_nodes) + ": the rule could never match");
    table.refuse_the_rest();
    return match;
}

Rule read_rule(Reader& reader, const toml::table& source) {
    Rule rule;
    rule.where = reader.where(source);
    Table table(reader, source, "[[rule]]");
    if (const toml::table* match = table.take_table("match")) {
        if (match->empty())
            reader.error(reader.where(*match), "an empty match").hints.push_back("what is to hold for every job stands in [defaults]");
        rule.match = read_match(reader, *match);
    } else if (!source.contains("match")) {
        reader.error(rule.where, "a rule without 'match'").hints.push_back("what is to hold for every job stands in [defaults]");
    }
    if (const toml::table* set = table.take_table("set")) {
        if (set->empty()) reader.error(reader.where(*set), "an empty set: the rule would change nothing");
        rule.set = read_layer(reader, *set, "a rule's set");
    } else if (!source.contains("set")) {
        reader.error(rule.where, "a rule without 'set': it would change nothing").hints.push_back("write set = { mode = \"observe\" }, or any key of [defaults]");
    }
    table.refuse_the_rest();
    return rule;
}

void read_rules(Reader& reader, const toml::node& source, std::vector<Rule>& rules) {
    const toml::array* array = source.as_array();
    if (array == nullptr) {
        reader.wrong_type("rule", "an array of tables", source).hints.push_back("each rule begins with [[rule]], in two pairs of brackets");
        return;
    }
    for (const toml::node& element : *array) {
        if (const toml::table* table = element.as_table())
            rules.push_back(read_rule(reader, *table));
        else
            reader.wrong_type("rule", "an array of tables", element);
    }
}

void read_policies(Reader& reader, const toml::table& source, std::vector<NamedPolicy>& policies) {
    for (const auto& [key, node] : source) {
        const std::string name(key.str());
        if (const auto error = check_policy_name(name)) reader.error(reader.where(key.source()), error->message).hints = error->hints;
        if (const toml::table* table = node.as_table()) {
            const std::string title = "[policy." + name + ']';
            if (table->empty()) reader.error(reader.where(key.source()), title + " sets nothing");
            policies.push_back({name, reader.where(key.source()), read_layer(reader, *table, title)});
        } else {
            reader.wrong_type(name, "a table", node).hints.push_back("a named policy begins with [policy.NAME]");
        }
    }
    // toml++ sorts keys by name; people read them in the order of the file
    std::sort(policies.begin(), policies.end(), [](const NamedPolicy& a, const NamedPolicy& b) { return a.where.line < b.where.line; });
}

// Whether the rest can be read: what a newer schema means is not known.
bool read_schema(Reader& reader, Table& top, Location start) {
    const toml::node* node = top.take("schema");
    const std::string line = "write 'schema = " + std::to_string(newest_schema) + "' as the first line";
    if (node == nullptr) {
        reader.error(std::move(start), "'schema' is missing").hints.push_back(line);
        return true;
    }
    const auto* number = node->as_integer();
    if (number == nullptr) {
        reader.wrong_type("schema", "an integer", *node).hints.push_back(line);
    } else if (number->get() < 1) {
        reader.error(reader.where(*node), "there is no schema " + std::to_string(number->get())).hints.push_back(line);
    } else if (number->get() > newest_schema) {
        reader.error(reader.where(*node), "schema " + std::to_string(number->get()) + " is newer than this program, which knows schema " + std::to_string(newest_schema));
        return false;
    }
    return true;
}

void warn_of_cuts(Reader& reader, const SitePolicy& policy) {
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

void read_top(Reader& reader, const toml::table& source, SitePolicy& policy) {
    const Location start{policy.file, 1, 1};
    if (source.empty()) {
        reader.error(start, "the policy is empty").hints.push_back("to use what is built in, remove the file; etc/policy.toml of the source shows every key");
        return;
    }
    Table top(reader, source, {});
    if (!read_schema(reader, top, start)) return;
    if (const toml::table* defaults = top.take_table("defaults")) policy.defaults = read_layer(reader, *defaults, "[defaults]");
    if (const toml::table* limits = top.take_table("limits")) policy.limits = read_limits(reader, *limits);
    if (const toml::table* pacing = top.take_table("pacing")) policy.pacing = read_pacing(reader, *pacing);
    if (const toml::node* rules = top.take("rule")) read_rules(reader, *rules, policy.rules);
    if (const toml::table* policies = top.take_table("policy")) read_policies(reader, *policies, policy.policies);
    top.refuse_the_rest();
    if (const std::size_t size = pacing_text(policy.pacing, policy.limits).size(); size > pacing_text_longest)
        reader.error(policy.pacing.where.begin()->second, "[pacing] is too long to be handed to a job: " + std::to_string(size) + " characters of at most " +
                                                              std::to_string(pacing_text_longest));
    warn_of_cuts(reader, policy);
}

// toml++ goes one call deeper for each dot of a key, also when it frees them: a line of 100,000 dots would end us.
constexpr std::size_t longest_line = 4096;

std::optional<int> overlong_line(std::string_view text) {
    int number = 1;
    for (const std::string_view line : split(text, '\n')) {
        if (line.size() > longest_line) return number;
        ++number;
    }
    return std::nullopt;
}

// The parser stops at its first mistake, and its words are for those who know TOML's grammar.
void tell_of_syntax(Reader& reader, const toml::parse_error& error) {
    constexpr std::string_view lead = "Error while parsing ";
    std::string_view words = error.description();
    std::string message = "not TOML: ";
    if (words.starts_with(lead))
        message.append("in a ").append(words.substr(lead.size()));
    else
        message.append(words);
    Diagnostic& entry = reader.error(reader.where(error.source()), std::move(message));

    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> hints{{
        {"could not determine value type", "texts stand in quotes: mode = \"off\""},
        {"unescaped control characters", "is the closing quote missing?"},
        {"utf-8", "save the file as UTF-8"},
        {"cannot redefine", "it stands twice: keep one"},
    }};
    for (const auto& [part, hint] : hints)
        if (words.find(part) != std::string_view::npos) entry.hints.emplace_back(hint);
}

}  // namespace

SitePolicy parse_site_policy(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    SitePolicy policy;
    policy.file = file;
    Diagnostics found;
    Reader reader(file, found);
    if (const auto line = overlong_line(text)) {
        diagnostics.error({file, *line, 1}, "this line is longer than " + std::to_string(longest_line) + " bytes");
        return policy;
    }
    const toml::parse_result parsed = toml::parse(text);
    if (parsed) {
        read_top(reader, parsed.table(), policy);
        found.sort_by_place();
    } else {
        tell_of_syntax(reader, parsed.error());
    }
    diagnostics.append(found);
    return policy;
}

}  // namespace paced::io
