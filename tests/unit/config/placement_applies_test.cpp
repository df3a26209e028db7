// SPDX-License-Identifier: BSD-3-Clause
#include "policy/config/placement_applies.h"

#include <gtest/gtest.h>

namespace paced::config {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

// The site asks for both parts of placement, and names a policy that does.
SitePolicy site() {
    SitePolicy policy;
    policy.defaults.mode = Located<Mode>{Mode::observe, {"p.toml", 1, 1}};
    policy.defaults.order = Located<Order>{Order{Order::Pattern::ring, {}}, {"p.toml", 2, 1}};
    policy.defaults.bind = Located<Bind>{Bind::gpu_nic, {"p.toml", 3, 1}};
    policy.policies.push_back({"placed", {"p.toml", 5, 1}, {.mode = Located<Mode>{Mode::observe, {"p.toml", 6, 1}}, .bind = Located<Bind>{Bind::gpu_nic_cpu, {"p.toml", 7, 1}}}});
    return policy;
}

// "bind order", "bind", "order" or "".
std::string applied(const SitePolicy& policy, const Flags& flags, const Variables& environment = {}) {
    Diagnostics diagnostics;
    const PlacementApplies applies = placement_applies(resolve(policy, flags, Environment(environment), {}, diagnostics));
    EXPECT_TRUE(diagnostics.entries().empty());
    return std::string(applies.bind ? "bind" : "") + (applies.bind && applies.order ? " " : "") + (applies.order ? "order" : "");
}

FlagValue flag(std::string value) { return {true, std::move(value)}; }

TEST(PlacementApplies, PaceAppliesWhateverSetIt) {
    EXPECT_EQ(applied(site(), {.mode = flag("pace")}), "bind order");
    EXPECT_EQ(applied(site(), {.mode = flag("pace"), .order = flag("none"), .bind = flag("none")}), "");
    EXPECT_EQ(applied({}, {.mode = flag("pace")}), "bind");  // built-in: bind gpu-nic, order none
}

TEST(PlacementApplies, ObserveAppliesWhatTheUserAskedForAlone) {
    EXPECT_EQ(applied(site(), {}), "");
    EXPECT_EQ(applied(site(), {.mode = flag("observe")}), "");
    EXPECT_EQ(applied(site(), {.mode = flag("observe"), .bind = flag("gpu-nic")}), "bind");
    EXPECT_EQ(applied(site(), {.mode = flag("observe"), .order = flag("alltoall")}), "order");
    EXPECT_EQ(applied(site(), {}, {{"PACED_FABRIC_BIND", "gpu-nic-cpu"}, {"PACED_FABRIC_ORDER", "tree"}}), "bind order");
    EXPECT_EQ(applied(site(), {.mode = flag("observe"), .bind = flag("none")}), "");
}

TEST(PlacementApplies, WhatANamedPolicySaysIsAskedForByWhoNamedIt) {
    EXPECT_EQ(applied(site(), {.mode = flag("placed")}), "bind");
    EXPECT_EQ(applied(site(), {}, {{"PACED_FABRIC", "placed"}}), "bind");
}

TEST(PlacementApplies, ExplainAndOffNever) {
    for (const char* mode : {"explain", "off"})
        EXPECT_EQ(applied(site(), {.mode = flag(mode), .order = flag("ring"), .bind = flag("gpu-nic")}), "");
}

}  // namespace
}  // namespace paced::config
