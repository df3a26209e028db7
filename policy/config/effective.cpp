// SPDX-License-Identifier: BSD-3-Clause
// Layers are applied from the weakest to the strongest, so that each simply overwrites what is there.
#include "policy/config/effective.h"

#include <algorithm>
#include <optional>

#include "policy/base/text.h"

namespace paced::config {

namespace {

// What --paced-fabric or PACED_FABRIC says: the bare flag, a mode, or a policy of the site.
struct Request {
    std::optional<Mode> mode;
    const NamedPolicy* policy = nullptr;
};

void report(const Error& error, std::string_view where, Diagnostics& diagnostics) {
    diagnostics.error({std::string(where), 0, 0}, error.message).hints = error.hints;
}

std::optional<Request> parse_request(const SitePolicy& site, std::string_view text, std::string_view where, Diagnostics& diagnostics) {
    if (const NamedPolicy* policy = site.find(text)) return Request{std::nullopt, policy};
    if (const auto mode = parse_mode(text)) return Request{*mode, nullptr};
    if (site.policies.empty()) {
        report(parse_mode(text).error(), where, diagnostics);
        return std::nullopt;
    }
    std::vector<std::string_view> words(mode_names.begin(), mode_names.end());
    for (const NamedPolicy& policy : site.policies) words.push_back(policy.name);
    report(Error{"unknown mode or policy '" + std::string(text) + "'", hints_for(text, words)}, where, diagnostics);
    return std::nullopt;
}

template <class T>
void take(const std::optional<Located<T>>& from, Sourced<T>& to, std::string_view suffix, bool by_user) {
    if (!from) return;
    to.value = from->value;
    // the column is for who edits the file, not for who reads a job log
    to.source = to_string(Location{from->where.file, from->where.line, 0}).append(suffix);
    to.by_user = by_user;
}

class Resolver {
public:
    Resolver(const SitePolicy& site, Diagnostics& diagnostics) : site_(site), diagnostics_(diagnostics) {
        effective_.limits = site.limits;
        effective_.pacing = site.pacing;
    }

    // suffix: of a policy that the user named; empty: of the site.
    void layer(const Layer& layer, std::string_view suffix = {}) {
        const bool by_user = !suffix.empty();
        take(layer.mode, effective_.mode, suffix, by_user);
        take(layer.flag_mode, flag_mode_, suffix, by_user);
        take(layer.order, effective_.order, suffix, by_user);
        take(layer.bind, effective_.bind, suffix, by_user);
        take(layer.window, effective_.window, suffix, by_user);
        take(layer.report, effective_.report, suffix, by_user);
    }

    // source: "flag --paced-fabric"
    void request(const Request& request, const std::string& source) {
        effective_.asked_for = true;
        if (request.mode) {
            effective_.mode = {*request.mode, source, true};
            return;
        }
        bool names_mode = false;
        if (request.policy != nullptr) {
            effective_.named_policy = request.policy->name;
            layer(request.policy->set, " (policy " + request.policy->name + ')');
            names_mode = request.policy->set.mode.has_value();
        }
        if (!names_mode) effective_.mode = {flag_mode_.value, source + ", flag_mode " + flag_mode_.source, true};
    }

    // A value of the command line or the environment. where: the flag or the variable.
    template <class T>
    void value(Result<T> (*parse)(std::string_view), std::string_view text, std::string_view where, std::string source, Sourced<T>& to) {
        if (auto parsed = parse(text))
            to = {*std::move(parsed), std::move(source), true};
        else
            report(parsed.error(), where, diagnostics_);
    }

    template <class T>
    void from_environment(const SettingNames& setting, Result<T> (*parse)(std::string_view), const Environment& environment, Sourced<T>& to) {
        const std::string text = environment.get_or(setting.variable, "");
        if (!text.empty()) value(parse, text, setting.variable, "environment " + std::string(setting.variable), to);
    }

    template <class T>
    void from_flag(const SettingNames& setting, Result<T> (*parse)(std::string_view), const FlagValue& flag, Sourced<T>& to) {
        if (!flag.present) return;
        if (flag.bare())
            report(needs_value(parse), setting.flag, diagnostics_);
        else
            value(parse, flag.text, setting.flag, "flag " + std::string(setting.flag), to);
    }

    void cut_window() {
        Window& window = effective_.window.value;
        const Nanoseconds most = site_.limits.window_max.value;
        if (window.automatic || window.longest <= most) return;
        effective_.notes.push_back("window " + to_string(window) + " cut to the site's window_max " + format_duration(most));
        window.longest = most;
    }

    // A job that sets details but no mode would otherwise wonder why nothing happens.
    void note_idle_flags(const Flags& flags) {
        if (effective_.asked_for || effective_.mode.value != Mode::off) return;
        const std::array given{&flags.order, &flags.bind, &flags.window, &flags.report};
        for (std::size_t i = 0; i < given.size(); ++i) {
            if (!given[i]->present) continue;
            effective_.idle_note = std::string(settings[i + 1].flag) + " has no effect without --paced-fabric: the mode is off (" +
                                   effective_.mode.source + ')';
            effective_.notes.push_back(effective_.idle_note);
            return;
        }
    }

    // "a value is missing", with the hints of the setting itself.
    template <class T>
    static Error needs_value(Result<T> (*parse)(std::string_view)) {
        return Error{"a value is missing", parse("").error().hints};
    }

    Effective& effective() { return effective_; }

private:
    const SitePolicy& site_;
    Diagnostics& diagnostics_;
    Effective effective_;
    Sourced<Mode> flag_mode_{BuiltIn::flag_mode};
};

}  // namespace

Effective resolve(const SitePolicy& policy, const Flags& flags, const Environment& environment, const JobFacts& job, Diagnostics& diagnostics) {
    Resolver resolver(policy, diagnostics);
    Effective& effective = resolver.effective();

    resolver.layer(policy.defaults);
    for (const Rule& rule : policy.rules)
        if (!mismatch(rule.match, job)) resolver.layer(rule.set);

    // Both requests are read, so that both mistakes are told, and only the stronger one counts.
    std::optional<Request> by_flag, by_variable;
    const std::string variable = environment.get_or(mode_setting.variable, "");
    if (!variable.empty()) by_variable = parse_request(policy, variable, mode_setting.variable, diagnostics);
    if (flags.mode.present)
        by_flag = flags.mode.bare() ? Request{} : parse_request(policy, flags.mode.text, mode_setting.flag, diagnostics);

    if (by_variable && !by_flag) resolver.request(*by_variable, "environment " + std::string(mode_setting.variable));
    resolver.from_environment(order_setting, parse_order, environment, effective.order);
    resolver.from_environment(bind_setting, parse_bind, environment, effective.bind);
    resolver.from_environment(window_setting, parse_window, environment, effective.window);
    resolver.from_environment(report_setting, parse_report, environment, effective.report);

    if (by_flag) resolver.request(*by_flag, "flag " + std::string(mode_setting.flag));
    resolver.from_flag(order_setting, parse_order, flags.order, effective.order);
    resolver.from_flag(bind_setting, parse_bind, flags.bind, effective.bind);
    resolver.from_flag(window_setting, parse_window, flags.window, effective.window);
    resolver.from_flag(report_setting, parse_report, flags.report, effective.report);

    resolver.cut_window();
    resolver.note_idle_flags(flags);
    return std::move(effective);
}

Nanoseconds longest_delay(const Effective& effective) {
    const Window& window = effective.window.value;
    const Nanoseconds most = effective.limits.window_max.value;
    return window.automatic ? most : std::min(window.longest, most);
}

void check_flag(const SitePolicy& policy, std::string_view name, const FlagValue& value, Diagnostics& diagnostics) {
    Flags flags;
    const std::array fields{&flags.mode, &flags.order, &flags.bind, &flags.window, &flags.report};
    for (std::size_t i = 0; i < settings.size(); ++i) {
        if (settings[i].flag.substr(2) != name) continue;
        *fields[i] = value;
        fields[i]->present = true;
        const Effective effective = resolve(policy, flags, {}, {}, diagnostics);
        // of the notes this one alone: whether the mode is off is not known from one flag
        if (settings[i].flag == window_setting.flag)
            for (const std::string& note : effective.notes)
                if (note.starts_with("window ")) diagnostics.warning({std::string(settings[i].flag), 0, 0}, note);
        return;
    }
    std::vector<std::string_view> names;
    for (const SettingNames& setting : settings) names.push_back(setting.flag.substr(2));
    diagnostics.error({}, "unknown flag '" + std::string(name) + "'").hints = hints_for(name, names);
}

}  // namespace paced::config
