// SPDX-License-Identifier: BSD-3-Clause
#include "policy/config/site_policy.h"

#include <gtest/gtest.h>

namespace paced::config {
namespace {

const JobFacts job{"gpu", "physics", "normal", "ada", 4};

TEST(Match, EveryConditionMustHoldAndAListNeedsOne) {
    const struct {
        Match match;
        std::optional<std::string> why_not;
    } cases[] = {
        {{}, std::nullopt},
        {{.partition = {"gpu"}}, std::nullopt},
        {{.partition = {"cpu", "gpu"}, .account = {"physics"}, .qos = {"normal"}, .user = {"ada"}, .min_nodes = 4, .max_nodes = 4}, std::nullopt},
        {{.partition = {"cpu"}}, "partition is 'gpu', not 'cpu'"},
        {{.partition = {"GPU"}}, "partition is 'gpu', not 'GPU'"},
        {{.partition = {"gpu"}, .account = {"a", "b"}}, "account is 'physics', not 'a' or 'b'"},
        {{.qos = {"high"}}, "qos is 'normal', not 'high'"},
        {{.user = {"bob", "eve", "joe"}}, "user is 'ada', not 'bob', 'eve' or 'joe'"},
        {{.min_nodes = 5}, "4 nodes, min_nodes is 5"},
        {{.max_nodes = 3}, "4 nodes, max_nodes is 3"},
        {{.min_nodes = 1, .max_nodes = 3}, "4 nodes, max_nodes is 3"},
    };
    for (const auto& c : cases) EXPECT_EQ(mismatch(c.match, job), c.why_not);
}

TEST(Match, WhatIsNotKnownMatchesNoRuleThatAsksForIt) {
    EXPECT_EQ(mismatch({}, {}), std::nullopt);
    EXPECT_EQ(mismatch({.partition = {"gpu"}}, {}), "partition is not known");
    EXPECT_EQ(mismatch({.account = {"a"}}, {}), "account is not known");
    EXPECT_EQ(mismatch({.qos = {"a"}}, {}), "qos is not known");
    EXPECT_EQ(mismatch({.user = {"a"}}, {}), "user is not known");
    EXPECT_EQ(mismatch({.min_nodes = 1}, {}), "the number of nodes is not known");
    EXPECT_EQ(mismatch({.max_nodes = 8}, {}), "the number of nodes is not known");
}

std::string words(const Result<PortRange>& range) {
    if (range) return to_string(*range);
    std::string text = range.error().message;
    for (const std::string& hint : range.error().hints) text += "\n" + hint;
    return text;
}

TEST(PortRange, ReadsTwoPorts) {
    for (const char* text : {"61000-61999", "1024-65535", "20000-20000"}) EXPECT_EQ(words(parse_port_range(text)), text);
    const std::string hint = "\nwrite the first and the last port, such as '61000-61999'";
    for (const std::string text : {"", "61000", "61000-", "-61000", "a-b", "1-2-3", "61000 - 61999"})
        EXPECT_EQ(words(parse_port_range(text)), "bad port range '" + text + "'" + hint);
    EXPECT_EQ(words(parse_port_range("1023-2000")), "ports of '1023-2000' are not all within 1024 to 65535");
    EXPECT_EQ(words(parse_port_range("2000-65536")), "ports of '2000-65536' are not all within 1024 to 65535");
    EXPECT_EQ(words(parse_port_range("2000-1999")), "port range '2000-1999' ends before it begins\ndid you mean '1999-2000'?");
}

TEST(PolicyName, MustBeWritableAsAFlag) {
    for (const std::string name : {"a", "Fast", "moe-8x7b_v1.5", "none", "on"}) EXPECT_FALSE(check_policy_name(name)) << name;
    EXPECT_FALSE(check_policy_name(std::string(63, 'a')));
    for (const std::string name : {"", "8gpus", "-a", "a b", "a=b", "a,b", "\xc3\xa9t\xc3\xa9"}) {
        ASSERT_TRUE(check_policy_name(name)) << name;
        EXPECT_EQ(check_policy_name(name)->message, "bad policy name '" + name + "'");
    }
    EXPECT_TRUE(check_policy_name(std::string(64, 'a')));
    for (std::string_view mode : mode_names) EXPECT_EQ(check_policy_name(mode)->message, "a policy cannot be called '" + std::string(mode) + "': that is a mode");
}

}  // namespace
}  // namespace paced::config
