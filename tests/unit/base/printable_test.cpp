// SPDX-License-Identifier: BSD-3-Clause
#include "policy/base/printable.h"

#include <gtest/gtest.h>

#include "policy/base/diagnostics.h"

namespace paced {
namespace {

TEST(Printable, ControlCharactersBecomeQuestionMarks) {
    EXPECT_EQ(printable("\x1b[31mred\x7f\r\b"), "?[31mred???");
    EXPECT_EQ(printable("\xc2\x9b" "31m"), "?31m");  // C1's own CSI
    EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
}

TEST(Printable, AllElseStays) {
    for (const char* text : {"", "line\n\tline\n", "\xc3\xa9 \xc2\xa0 \xe2\x80\xa6", "\xc2"}) EXPECT_EQ(printable(text), text);
}

TEST(Printable, DiagnosticsAre) {
    Diagnostics diagnostics;
    diagnostics.error({"t.conf", 1, 1}, "switch '\x1b[2J' is odd").hints.push_back("not '\a'");
    EXPECT_EQ(format(diagnostics), "t.conf:1:1: error: switch '?[2J' is odd\n    hint: not '?'\n");
}

}  // namespace
}  // namespace paced
