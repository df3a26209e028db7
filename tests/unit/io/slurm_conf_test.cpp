// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/slurm_conf.h"

#include <gtest/gtest.h>

namespace paced::io {
namespace {

// "3:1 Key=[value]@3:5-3:9", pairs separated by blanks, lines by " / "
std::string text_of(const std::vector<SlurmConfLine>& lines) {
    std::string text;
    for (const auto& line : lines) {
        if (!text.empty()) text += " / ";
        for (const auto& pair : line) {
            if (&pair != &line.front()) text += ' ';
            const auto place = [](const SlurmConfPair::Position& at) { return std::to_string(at.line) + ':' + std::to_string(at.column); };
            text += place(pair.key_position) + ' ' + pair.key + "=[" + pair.value + "]@" + place(pair.value_positions.front()) + '-' +
                    place(pair.value_positions.back());
        }
    }
    return text;
}

TEST(SlurmConf, PairsAndPlaces) {
    const struct {
        const char *text, *lines;
    } cases[] = {
        {"", ""},
        {"\n# only a comment\n   \n\t\n", ""},
        {"A=1", "1:1 A=[1]@1:3-1:4"},
        {"A=1 B=two\n", "1:1 A=[1]@1:3-1:4 1:5 B=[two]@1:7-1:10"},
        {"A=1\tB=2\n", "1:1 A=[1]@1:3-1:4 1:5 B=[2]@1:7-1:8"},
        {"A = 1\n", "1:1 A=[1]@1:5-1:6"},
        {"A=\"x y\" B=2\n", "1:1 A=[x y]@1:4-1:7 1:9 B=[2]@1:11-1:12"},
        {"A=1 # B=2\nC=3", "1:1 A=[1]@1:3-1:4 / 2:1 C=[3]@2:3-2:4"},
        {"A=a\\#b\n", "1:1 A=[a#b]@1:3-1:7"},
        {"A=1 \\\n B=2\n", "1:1 A=[1]@1:3-1:4 2:2 B=[2]@2:4-2:5"},
        {"A=n[1-\\\n4] B=2\n", "1:1 A=[n[1-4]]@1:3-2:3 2:4 B=[2]@2:6-2:7"},
        {"A=1\r\nB=2\r\n", "1:1 A=[1]@1:3-1:4 / 2:1 B=[2]@2:3-2:4"},
        {"A=1 \\\r\nB=2", "1:1 A=[1]@1:3-1:4 2:1 B=[2]@2:3-2:4"},
        {"# comment \\\nA=1\n", "2:1 A=[1]@2:3-2:4"},
        {"Include other.conf\n", "1:1 Include=[other.conf]@1:9-1:19"},
        {"include=x", "1:1 include=[x]@1:9-1:10"},
        {"A=1 \\", "1:1 A=[1]@1:3-1:4"},
    };
    for (const auto& each : cases) {
        Diagnostics diagnostics;
        const auto lines = parse_slurm_conf(each.text, "f", diagnostics);
        if (std::string_view(each.text) == "A=1 \\") {  // a backslash with no line behind it is a word like any other
            EXPECT_EQ(format(diagnostics), "f:1:5: error: '\\' is no Key=Value\n");
        } else {
            EXPECT_EQ(format(diagnostics), "") << each.text;
        }
        EXPECT_EQ(text_of(lines), each.lines) << each.text;
    }
}

TEST(SlurmConf, Mistakes) {
    const struct {
        const char *text, *message;
    } cases[] = {
        {"nonsense\n", "f:1:1: error: 'nonsense' is no Key=Value\n"},
        {"A=1 nonsense B=2\n", "f:1:5: error: 'nonsense' is no Key=Value\n"},
        {"A=\n", "f:1:3: error: A has no value\n"},
        {"A=\"\"\n", "f:1:3: error: A has no value\n"},
        {"A=\"open\nB=2\n", "f:1:3: error: this quote is not closed\n"},
        {"=1\n", "f:1:1: error: '=1' is no Key=Value\n"},
        {"A=1\n\n  ?\nB=2\nC\n", "f:3:3: error: '?' is no Key=Value\nf:5:1: error: 'C' is no Key=Value\n"},
    };
    for (const auto& each : cases) {
        Diagnostics diagnostics;
        parse_slurm_conf(each.text, "f", diagnostics);
        EXPECT_EQ(format(diagnostics), each.message) << each.text;
    }
}

TEST(SlurmConf, KeysDoNotTellCapitals) {
    EXPECT_TRUE(same_key("SwitchName", "switchname"));
    EXPECT_FALSE(same_key("SwitchName", "Switch"));
}

}  // namespace
}  // namespace paced::io
