// SPDX-License-Identifier: BSD-3-Clause
// Effective settings: what holds for one job, each value with where it came from. Precedence: command line >
// environment > the site's matching rules > site defaults > built-in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/base/diagnostics.h"
#include "policy/base/environment.h"
#include "policy/config/settings.h"
#include "policy/config/site_policy.h"

namespace paced::config {

// A value and its origin in words: "flag --paced-fabric", "environment PACED_FABRIC_WINDOW",
// "/etc/paced-fabric/policy.toml:12", "built-in".
template <class T>
struct Sourced {
    T value{};
    std::string source = "built-in";
};

// What is known of the job; rules match on it. Empty or 0: unknown, matches no rule that asks for it.
struct JobFacts {
    std::string partition, account, qos, user;
    int nodes = 0;
};

// A flag as given. present without text: the bare flag.
struct FlagValue {
    bool present = false;
    std::string text;
};

struct Flags {
    FlagValue mode, order, bind, window, report;
};

struct Effective {
    Sourced<Mode> mode;
    Sourced<Order> order;
    Sourced<Bind> bind;
    Sourced<Window> window;
    Sourced<Report> report;
    Limits limits;
    std::string named_policy;          // the [policy.NAME] that was asked for, or empty
    bool asked_for = false;            // a flag or the environment asked; false: the site's default alone
    std::vector<std::string> notes;    // "window 5ms cut to the site's window_max 2ms"
};

// Wrong flag and environment values become errors in diagnostics (location.file is "--paced-fabric-order" or
// "PACED_FABRIC_ORDER"); the value of the next source is then used.
Effective resolve(const SitePolicy& policy, const Flags& flags, const Environment& environment, const JobFacts& job, Diagnostics& diagnostics);

}  // namespace paced::config
