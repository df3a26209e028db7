// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <gtest/gtest.h>

#include "plugin/spank/order_answer.h"

namespace paced::spank {
namespace {

std::string wrong(const std::string& text) {
    OrderAnswer answer;
    const char* const why = answer.parse(text);
    if (why == nullptr) return {};
    EXPECT_TRUE(answer.placed.empty());
    EXPECT_EQ(answer.tasks_per_node, 0U);
    return why;
}

const std::string head = "paced-fabric-order 1\n";

TEST(order_answer, three_things_it_can_say) {
    OrderAnswer answer;
    std::string text = head + "end\n";
    EXPECT_EQ(answer.parse(text), nullptr);
    EXPECT_TRUE(answer.placed.empty());
    EXPECT_EQ(answer.tasks_per_node, 0U);

    text = head + "placed kept -w chooses the nodes\nend\n";
    EXPECT_EQ(answer.parse(text), nullptr);
    EXPECT_EQ(answer.placed, "kept -w chooses the nodes");
    EXPECT_EQ(answer.tasks_per_node, 0U);

    text = head + "placed ordered ring n1,n3,n2\norder 2 0,2,1\nend\n";
    EXPECT_EQ(answer.parse(text), nullptr);
    EXPECT_EQ(answer.placed, "ordered ring n1,n3,n2");
    EXPECT_EQ(answer.tasks_per_node, 2U);
    EXPECT_EQ(answer.positions, "0,2,1");
}

TEST(order_answer, anything_else_is_refused_whole) {
    EXPECT_EQ(wrong(""), "not begun by \"paced-fabric-order 1\"");
    EXPECT_EQ(wrong("paced-fabric-order 2\nend\n"), "not begun by \"paced-fabric-order 1\"");
    EXPECT_EQ(wrong(head), "no last line \"end\"");
    EXPECT_EQ(wrong(head + "end"), "no last line \"end\"");
    EXPECT_EQ(wrong(head + "placed kept x\n"), "no last line \"end\"");
    EXPECT_EQ(wrong(head + "end\nend\n"), "something behind its last line");
    EXPECT_EQ(wrong(head + "mode observe\nend\n"), "a line that the protocol does not know");
    EXPECT_EQ(wrong(head + "placed maybe\nend\n"), "neither kept nor ordered");
    EXPECT_EQ(wrong(head + "placed kept x\nplaced kept y\nend\n"), "two placed lines");
    EXPECT_EQ(wrong(head + "placed kept \tx\nend\n"), "a placed line that cannot be handed on");
    EXPECT_EQ(wrong(head + "placed kept " + std::string(placed_limit, 'x') + "\nend\n"), "a placed line that cannot be handed on");
    for (const char* order : {"order", "order ", "order 1", "order 1 ", "order 0 0,1", "order x 0,1", "order -1 0,1", "order 99999999999 0,1"})
        EXPECT_FALSE(wrong(head + "placed ordered ring n1\n" + order + "\nend\n").empty()) << order;
    EXPECT_EQ(wrong(head + "placed ordered ring n1\norder 1 0\norder 1 0\nend\n"), "two orders");
    EXPECT_EQ(wrong(head + "order 1 0\nend\n"), "an order that it says nothing of, or none that it speaks of");
    EXPECT_EQ(wrong(head + "placed ordered ring n1\nend\n"), "an order that it says nothing of, or none that it speaks of");
    EXPECT_EQ(wrong(head + "placed kept x\norder 1 0\nend\n"), "an order that it says nothing of, or none that it speaks of");
}

}  // namespace
}  // namespace paced::spank
