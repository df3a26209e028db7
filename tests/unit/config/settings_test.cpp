// SPDX-License-Identifier: BSD-3-Clause
#include "policy/config/settings.h"

#include <gtest/gtest.h>

namespace paced::config {
namespace {

// The message and its hints, as they are printed.
template <class T>
std::string words(const Result<T>& result) {
    if (result) return "accepted as " + to_string(*result);
    std::string text = result.error().message;
    for (const std::string& hint : result.error().hints) text += "\n" + hint;
    return text;
}

TEST(Settings, WhatIsValidReadsBackTheSame) {
    for (const char* text : {"off", "observe", "pace", "explain"}) EXPECT_EQ(words(parse_mode(text)), std::string("accepted as ") + text);
    for (const char* text : {"none", "ring", "alltoall", "tree", "tp=8", "tp=8,pp=4,dp=16", "data-parallel_2=1,x=16777216", "tp=8:100,pp=4:10,dp=16:0"})
        EXPECT_EQ(words(parse_order(text)), std::string("accepted as ") + text);
    for (const char* text : {"none", "gpu-nic", "gpu-nic-cpu"}) EXPECT_EQ(words(parse_bind(text)), std::string("accepted as ") + text);
    for (const char* text : {"auto", "0", "500us", "2ms", "1.5ms", "1s"}) EXPECT_EQ(words(parse_window(text)), std::string("accepted as ") + text);
    for (const char* text : {"none", "summary", "full", "none,/a", "summary,a b,c.json", "full,%j.%s.%%.json"})
        EXPECT_EQ(words(parse_report(text)), std::string("accepted as ") + text);
}

TEST(Settings, AGridKeepsItsAxesAsWritten) {
    const auto order = parse_order("tp=8,pp=4,dp=16");
    ASSERT_TRUE(order);
    EXPECT_EQ(order->pattern, Order::Pattern::grid);
    EXPECT_EQ(order->axes, (std::vector<Axis>{{"tp", 8}, {"pp", 4}, {"dp", 16}}));
    const auto weighted = parse_order("tp=8:100,dp=16:1");
    ASSERT_TRUE(weighted);
    EXPECT_EQ(weighted->axes, (std::vector<Axis>{{"tp", 8, 100}, {"dp", 16, 1}}));
}

TEST(Settings, ModesAreRefusedWithHints) {
    EXPECT_EQ(words(parse_mode("obsrve")), "unknown mode 'obsrve'\ndid you mean 'observe'?\nvalid: 'off', 'observe', 'pace' or 'explain'");
    EXPECT_EQ(words(parse_mode("on")), "unknown mode 'on'\nvalid: 'off', 'observe', 'pace' or 'explain'");
    EXPECT_EQ(words(parse_mode("")), "unknown mode ''\nvalid: 'off', 'observe', 'pace' or 'explain'");
    EXPECT_EQ(words(parse_mode("Pace")), "unknown mode 'Pace'\ndid you mean 'pace'?\nvalid: 'off', 'observe', 'pace' or 'explain'");
}

TEST(Settings, OrdersAreRefusedWithHints) {
    const std::string valid = "valid: 'none', 'ring', 'alltoall' or 'tree', or a grid such as 'tp=8,pp=4,dp=16'";
    const std::string axis = "an axis is NAME=SIZE or NAME=SIZE:WEIGHT, such as 'tp=8' or 'tp=8:100'";
    const std::string weight = "a weight is a whole number from 0 to 1000000";
    EXPECT_EQ(words(parse_order("rings")), "unknown order 'rings'\ndid you mean 'ring'?\n" + valid);
    EXPECT_EQ(words(parse_order("")), "unknown order ''\n" + valid);
    EXPECT_EQ(words(parse_order("=")), "bad axis '=' in the grid '='\n" + axis);
    EXPECT_EQ(words(parse_order("tp=")), "bad axis 'tp=' in the grid 'tp='\n" + axis);
    EXPECT_EQ(words(parse_order("tp=8,")), "bad axis '' in the grid 'tp=8,'\n" + axis);
    EXPECT_EQ(words(parse_order("tp=8,ring")), "bad axis 'ring' in the grid 'tp=8,ring'\n" + axis);
    EXPECT_EQ(words(parse_order("tp=8x")), "bad axis 'tp=8x' in the grid 'tp=8x'\n" + axis);
    EXPECT_EQ(words(parse_order("8=tp")), "bad axis '8=tp' in the grid '8=tp'\n" + axis);
    EXPECT_EQ(words(parse_order("tp=-8")), "bad axis 'tp=-8' in the grid 'tp=-8'\n" + axis);
    EXPECT_EQ(words(parse_order("t p=8")), "bad axis 't p=8' in the grid 't p=8'\n" + axis);
    EXPECT_EQ(words(parse_order("tp=8,tp=2")), "axis 'tp' stands twice in the grid 'tp=8,tp=2'");
    EXPECT_EQ(words(parse_order("tp:8=4")), "bad axis 'tp:8=4' in the grid 'tp:8=4'\n" + axis);
    EXPECT_EQ(words(parse_order("tp=:4")), "bad axis 'tp=:4' in the grid 'tp=:4'\n" + axis);
    for (const std::string bad : {"tp=8:", "tp=8:-1", "tp=8:x", "tp=8:1.5", "tp=8:1:2", "tp=8:1000001"})
        EXPECT_EQ(words(parse_order(bad)), "bad weight of axis '" + bad + "' in the grid '" + bad + "'\n" + weight);
    EXPECT_EQ(words(parse_order("tp=8:9,pp=4")),
              "some axes of the grid 'tp=8:9,pp=4' have a weight and 'pp' has none\ngive all axes a weight, or none");
    EXPECT_EQ(words(parse_order("tp=8,pp=4:9")),
              "some axes of the grid 'tp=8,pp=4:9' have a weight and 'tp' has none\ngive all axes a weight, or none");
    EXPECT_EQ(words(parse_order("a=4096,b=4096,c=2")), "the grid 'a=4096,b=4096,c=2' has more than 16777216 ranks");
    EXPECT_EQ(words(parse_order("a=9223372036854775807,b=2")), "the grid 'a=9223372036854775807,b=2' has more than 16777216 ranks");
}

TEST(Settings, BindingsAreRefusedWithHints) {
    EXPECT_EQ(words(parse_bind("gpu")), "unknown binding 'gpu'\nvalid: 'none', 'gpu-nic' or 'gpu-nic-cpu'");
    EXPECT_EQ(words(parse_bind("gpu-nic-cpus")), "unknown binding 'gpu-nic-cpus'\ndid you mean 'gpu-nic-cpu'?\nvalid: 'none', 'gpu-nic' or 'gpu-nic-cpu'");
}

TEST(Settings, WindowsAreRefusedWithHints) {
    const std::string valid = "valid: 'auto', '0', or a time of at most an hour in ns, us, ms or s, such as '500us' or '2ms'";
    EXPECT_EQ(words(parse_window("5")), "bad window '5'\na time needs its unit: '5us' or '5ms'\n" + valid);
    EXPECT_EQ(words(parse_window("atuo")), "bad window 'atuo'\ndid you mean 'auto'?\n" + valid);
    for (const std::string text : {"", "2m", "-1ms", "2 ms", "3601s"}) EXPECT_EQ(words(parse_window(text)), "bad window '" + text + "'\n" + valid);
}

TEST(Settings, ReportsAreRefusedWithHints) {
    const std::string valid = "valid: 'none', 'summary' or 'full', then optionally a comma and the path of the JSON report";
    EXPECT_EQ(words(parse_report("ful")), "unknown report level 'ful'\ndid you mean 'full'?\n" + valid);
    EXPECT_EQ(words(parse_report("/tmp/a.json")), "unknown report level '/tmp/a.json'\n" + valid);
    EXPECT_EQ(words(parse_report(",a.json")), "unknown report level ''\n" + valid);
    EXPECT_EQ(words(parse_report("full,")), "the report's path is empty\nleave out the comma, or write 'summary,report-%j.json'");
    EXPECT_EQ(words(parse_report("full,a\nb")), "the report's path holds a control character");
    EXPECT_EQ(words(parse_report("full,%x")), "unknown placeholder '%x' in the report's path\n'%j' is the job, '%s' the step, '%%' a percent sign");
    EXPECT_EQ(words(parse_report("full,a%")), "unknown placeholder '%' in the report's path\n'%j' is the job, '%s' the step, '%%' a percent sign");
}

TEST(Settings, PathsAreFilledIn) {
    EXPECT_EQ(expand_path({Report::Level::full, "r/%j.%s-100%%.json"}, "42", "3"), "r/42.3-100%.json");
    EXPECT_EQ(expand_path({Report::Level::full, "plain"}, "42", "3"), "plain");
    EXPECT_EQ(expand_path({}, "42", "3"), "");
    // what a job is called is not read again
    EXPECT_EQ(expand_path({Report::Level::full, "%j"}, "%s", "3"), "%s");
}

}  // namespace
}  // namespace paced::config
