// SPDX-License-Identifier: BSD-3-Clause
// Effective settings: what holds for one job, each value with where it came from. Precedence, for each of the five
// settings alone:
//
//   command line > environment > the site's matching rules, the last first > site defaults > built-in
//
// --paced-fabric=NAME and PACED_FABRIC=NAME may name a [policy.NAME] of the site. Its values then hold with the
// precedence of the flag or variable that named it, just behind the flags or variables of the settings themselves:
// with --paced-fabric=tuned --paced-fabric-bind=none everything is as in [policy.tuned] but for the binding. The flag
// replaces the variable and a policy that the variable named.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/base/diagnostics.h"
#include "policy/base/environment.h"
#include "policy/config/settings.h"
#include "policy/config/site_policy.h"

namespace paced::config {

// A value and its origin in words: "flag --paced-fabric", "environment PACED_FABRIC_WINDOW",
// "/etc/paced-fabric/policy.toml:12", "/etc/paced-fabric/policy.toml:30 (policy tuned)", "built-in".
template <class T>
struct Sourced {
    T value{};
    std::string source = "built-in";
    bool by_user = false;  // a flag, a variable, or the policy that one of them named; not the site's own defaults and rules
};

// A flag as given. present without text: the bare flag. srun 22.05 hands it on as "(null)", which means the same.
struct FlagValue {
    bool present = false;
    std::string text;

    bool bare() const { return text.empty() || text == "(null)"; }
};

struct Flags {
    FlagValue mode{}, order{}, bind{}, window{}, report{};
};

struct Effective {
    Sourced<Mode> mode{BuiltIn::mode};
    Sourced<Order> order;
    Sourced<Bind> bind{BuiltIn::bind};
    Sourced<Window> window;
    Sourced<Report> report;
    Limits limits;
    Pacing pacing;                   // the site's, like the limits
    std::string named_policy;        // the [policy.NAME] that was asked for, or empty
    bool asked_for = false;          // --paced-fabric or PACED_FABRIC gave the mode; false: the site alone
    std::vector<std::string> notes;  // "window 5ms cut to the site's window_max 2ms"
    std::string idle_note;           // the one of the notes that tells of a flag without effect, since no mode was given; empty: none
};

// Wrong flag and environment values become errors in diagnostics (location.file is "--paced-fabric-order" or
// "PACED_FABRIC_ORDER"); the value of the next source is then used. An empty variable is the same as none.
Effective resolve(const SitePolicy& policy, const Flags& flags, const Environment& environment, const JobFacts& job, Diagnostics& diagnostics);

// No single delay of a collective is longer: the window, and where it is `auto` what the site allows at most.
Nanoseconds longest_delay(const Effective& effective);

// One flag at submission; name without the dashes: "paced-fabric-order". What resolve() would refuse is an error
// here too; a window that the site will cut is a warning.
void check_flag(const SitePolicy& policy, std::string_view name, const FlagValue& value, Diagnostics& diagnostics);

}  // namespace paced::config
