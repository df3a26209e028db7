// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "plugin/spank/flags.h"

namespace paced::spank {
namespace {

using Variables = std::map<std::string, std::string>;

Wanted wanted(const Flags& flags, bool policy_exists, const Variables& variables) {
    return what_is_wanted(flags, policy_exists, [&](const char* name, Path& text) {
        const auto found = variables.find(name);
        return found != variables.end() && text.assign(found->second);
    });
}

Flags given(Flag flag, std::string_view text) {
    Flags flags;
    flags.values[flag].given = true;
    flags.values[flag].text.assign(text);
    return flags;
}

TEST(wanted, who_asks_and_for_what) {
    const Flags none;
    EXPECT_EQ(wanted(none, false, {}), Wanted::no);
    EXPECT_EQ(wanted(none, true, {}), Wanted::site_default);
    EXPECT_EQ(wanted(none, false, {{"PACED_FABRIC", "observe"}}), Wanted::asked);
    EXPECT_EQ(wanted(none, true, {{"PACED_FABRIC", ""}}), Wanted::site_default);
    EXPECT_EQ(wanted(none, true, {{"PACED_FABRIC", "off"}}), Wanted::no);
    EXPECT_EQ(wanted(none, true, {{"PACED_FABRIC", "off"}, {"PACED_FABRIC_ORDER", "ring"}}), Wanted::no);
    EXPECT_EQ(wanted(none, false, {{"PACED_FABRIC_WINDOW", "2ms"}}), Wanted::asked);
    EXPECT_EQ(wanted(given(flag_mode, ""), false, {}), Wanted::asked);
    EXPECT_EQ(wanted(given(flag_mode, ""), false, {{"PACED_FABRIC", "off"}}), Wanted::asked);
    EXPECT_EQ(wanted(given(flag_mode, "off"), true, {{"PACED_FABRIC", "pace"}}), Wanted::no);
    EXPECT_EQ(wanted(given(flag_mode, "pace"), true, {{"PACED_FABRIC", "off"}}), Wanted::asked);
    EXPECT_EQ(wanted(given(flag_order, "ring"), false, {}), Wanted::asked);
    EXPECT_EQ(wanted(given(flag_order, "ring"), false, {{"PACED_FABRIC", "off"}}), Wanted::no);
}

TEST(flags, no_value_has_three_spellings) {
    EXPECT_EQ(flag_text(nullptr), "");
    EXPECT_EQ(flag_text(""), "");
    EXPECT_EQ(flag_text("(null)"), "");
    EXPECT_EQ(flag_text("null"), "null");
}

TEST(flags, keys) {
    EXPECT_TRUE(is_key(std::string(64, 'a')));
    EXPECT_TRUE(is_key("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"));
    EXPECT_FALSE(is_key(""));
    EXPECT_FALSE(is_key(std::string(63, 'a')));
    EXPECT_FALSE(is_key(std::string(65, 'a')));
    EXPECT_FALSE(is_key(std::string(64, 'A')));
    EXPECT_FALSE(is_key(std::string(63, 'a') + "/"));
}

}  // namespace
}  // namespace paced::spank
