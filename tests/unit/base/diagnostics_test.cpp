// SPDX-License-Identifier: BSD-3-Clause
#include "policy/base/diagnostics.h"

#include <gtest/gtest.h>

namespace paced {
namespace {

TEST(Diagnostics, PlacesLeaveOutWhatIsUnknown) {
    EXPECT_EQ(to_string(Location{"a.toml", 3, 7}), "a.toml:3:7");
    EXPECT_EQ(to_string(Location{"a.toml", 3, 0}), "a.toml:3");
    EXPECT_EQ(to_string(Location{"a.toml", 0, 7}), "a.toml");
    EXPECT_EQ(to_string(Location{}), "");
}

TEST(Diagnostics, EveryMistakeIsPrintedInOrderWithItsHints) {
    Diagnostics found;
    EXPECT_TRUE(found.empty());
    found.warning({"a.toml", 1, 1}, "nothing in here");
    EXPECT_FALSE(found.has_errors());
    auto& unknown = found.error({"a.toml", 3, 7}, "unknown key 'mod'");
    unknown.hints.push_back("did you mean 'mode'?");
    found.error({}, "no place for this one");

    Diagnostics all;
    all.append(found);
    EXPECT_TRUE(all.has_errors());
    EXPECT_EQ(format(all),
              "a.toml:1:1: warning: nothing in here\n"
              "a.toml:3:7: error: unknown key 'mod'\n"
              "    hint: did you mean 'mode'?\n"
              "error: no place for this one\n");
}

}  // namespace
}  // namespace paced
