// SPDX-License-Identifier: BSD-3-Clause
#include "policy/base/text.h"

#include <array>

#include <gtest/gtest.h>

namespace paced {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Text, TrimsBlanksAtBothEnds) {
    EXPECT_EQ(trim("  a b\t\r\n"), "a b");
    EXPECT_EQ(trim("a"), "a");
    EXPECT_EQ(trim(" \t "), "");
    EXPECT_EQ(trim(""), "");
}

TEST(Text, SplitKeepsEmptyParts) {
    EXPECT_EQ(split("a,b,,c", ','), (Parts{"a", "b", "", "c"}));
    EXPECT_EQ(split("a", ','), Parts{"a"});
    EXPECT_EQ(split("", ','), Parts{""});
    EXPECT_EQ(split(",", ','), (Parts{"", ""}));
}

TEST(Text, JoinKeepsEmptyPartsToo) {
    EXPECT_EQ(join(std::array<std::string, 3>{"a", "b", "c"}, ", "), "a, b, c");
    EXPECT_EQ(join(std::array<std::string, 3>{"", "b", ""}, ","), ",b,");
    EXPECT_EQ(join({}, ","), "");
}

TEST(Text, ParsesWholeIntegersAlone) {
    EXPECT_EQ(parse_integer("42"), 42);
    EXPECT_EQ(parse_integer("-7"), -7);
    EXPECT_EQ(parse_integer("007"), 7);
    for (const char* text : {"", " 1", "1 ", "1x", "+1", "1.0", "9223372036854775808"}) EXPECT_EQ(parse_integer(text), std::nullopt) << text;
}

TEST(Text, SuggestsTheNearestCandidate) {
    constexpr std::array<std::string_view, 4> modes{"off", "observe", "pace", "explain"};
    const struct {
        const char* word;
        std::optional<std::string> suggestion;
    } cases[] = {{"obsrve", "observe"}, {"observer", "observe"}, {"pcae", "pace"}, {"of", "off"},         {"peace", "pace"},
                 {"explian", "explain"}, {"run", std::nullopt},   {"", std::nullopt}, {"on", std::nullopt}, {"everything", std::nullopt}};
    for (const auto& c : cases) EXPECT_EQ(did_you_mean(c.word, modes), c.suggestion) << c.word;
    EXPECT_EQ(did_you_mean("pace", {}), std::nullopt);
}

TEST(Text, ListsAndCounts) {
    constexpr std::array<std::string_view, 3> words{"off", "observe", "pace"};
    EXPECT_EQ(quoted_list(words), "'off', 'observe' or 'pace'");
    EXPECT_EQ(quoted_list(std::span(words).first(2)), "'off' or 'observe'");
    EXPECT_EQ(quoted_list(std::span(words).first(1)), "'off'");
    EXPECT_EQ(quoted_list({}), "");
    EXPECT_EQ(count_of(1, "node"), "1 node");
    EXPECT_EQ(count_of(0, "node"), "0 nodes");
    EXPECT_EQ(count_of(2, "policy", "policies"), "2 policies");
}

}  // namespace
}  // namespace paced
