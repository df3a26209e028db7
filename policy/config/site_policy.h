// SPDX-License-Identifier: BSD-3-Clause
// The site policy as values, each with the place where it was written. policy/io/toml_policy.h reads one from a file;
// a SitePolicy{} is what holds without a file. etc/policy.toml explains every key to an admin.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/diagnostics.h"
#include "policy/base/duration.h"
#include "policy/base/result.h"
#include "policy/config/pacing.h"
#include "policy/config/settings.h"

namespace paced::config {

inline constexpr int newest_schema = 1;

// A value and where it was written; an empty place means built-in.
template <class T>
struct Located {
    T value{};
    Location where{};
};

// A set of settings, as in [defaults], in a rule's `set` and in a [policy.NAME]. What is not set is left to the
// layer below. (The empty braces here and below let designated initializers leave members out.)
struct Layer {
    std::optional<Located<Mode>> mode{};       // of a job that asks for nothing
    std::optional<Located<Mode>> flag_mode{};  // of a job with a bare --paced-fabric
    std::optional<Located<Order>> order{};
    std::optional<Located<Bind>> bind{};
    std::optional<Located<Window>> window{};
    std::optional<Located<Report>> report{};
};

// What holds where nobody says anything. A job that asks for nothing is left alone. The rank order needs to be told
// the job's traffic, so it is left alone too. The binding is the one that only sets variables: narrowing the cores
// of a task that starts many threads, or others, can slow it down, and that is for the site or the user to decide.
struct BuiltIn {
    static constexpr Mode mode = Mode::off;
    static constexpr Mode flag_mode = Mode::pace;
    static constexpr Bind bind = Bind::gpu_nic;
    // order none, window auto, report summary: the types' own defaults
};

struct PortRange {
    int low = 61000;
    int high = 61999;

    friend bool operator==(const PortRange&, const PortRange&) = default;
};

// The same for every job: a rule matches on the job's environment, which the job can forge.
struct Limits {
    Located<Nanoseconds> window_max{Nanoseconds{100'000'000}, {}};
    Located<double> exploration_max_percent{0.5, {}};
    Located<PortRange> exchange_ports{};
};

// What is known of the job; rules match on it. Empty or 0: unknown, matches no rule that asks for it.
struct JobFacts {
    std::string partition{}, account{}, qos{}, user{};
    int nodes = 0;
};

// Empty and 0 mean "any". A list matches if one of its names does.
struct Match {
    std::vector<std::string> partition{}, account{}, qos{}, user{};
    int min_nodes = 0;
    int max_nodes = 0;
};

// Every rule that matches applies, in the order of the file: of two that set the same thing the later one wins.
struct Rule {
    Location where{};
    Match match{};
    Layer set{};
};

struct NamedPolicy {
    std::string name;
    Location where{};
    Layer set{};
};

struct SitePolicy {
    std::string file;  // where it was read; empty: built-in
    int schema = newest_schema;
    Layer defaults;
    Limits limits;
    Pacing pacing;
    std::vector<Rule> rules;
    std::vector<NamedPolicy> policies;

    const NamedPolicy* find(std::string_view name) const;
};

// Why a rule does not match the job, "partition is 'cpu', not 'gpu' or 'dgx'"; nullopt: it matches.
std::optional<std::string> mismatch(const Match& match, const JobFacts& job);

// "61000-61999": two ports from 1024 to 65535, the lower first.
Result<PortRange> parse_port_range(std::string_view text);
std::string to_string(const PortRange& range);

// A name that can stand in --paced-fabric=NAME: a letter, then letters, digits and . _ -, at most 63, and no mode.
// nullopt: good.
std::optional<Error> check_policy_name(std::string_view name);

}  // namespace paced::config
