// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/helper/placed.h"

#include <gtest/gtest.h>

namespace paced::helper {
namespace {

TEST(placed, what_srun_says_is_what_a_node_reads) {
    Placed ordered{true, "ring", {"n1", "n3", "n2", "n4"}, {}, {}};
    EXPECT_EQ(to_text(ordered), "ordered ring n[1,3,2,4]");
    EXPECT_EQ(parse_placed("42 " + to_text(ordered), "42"), ordered);

    const Placed kept{false, {}, {}, {}, "-w chooses the nodes"};
    EXPECT_EQ(to_text(kept), "kept -w chooses the nodes");
    EXPECT_EQ(parse_placed("42 " + to_text(kept), "42"), kept);
}

TEST(placed, another_jobs_is_not_believed) {
    EXPECT_EQ(parse_placed("42 kept x", "43"), std::nullopt);
    EXPECT_EQ(parse_placed("421 kept x", "42"), std::nullopt);
    EXPECT_EQ(parse_placed("42 kept x", ""), std::nullopt);
    for (const char* text : {"", "42", "42 ", "42 moved ring n1", "42 ordered", "42 ordered ring", "42 ordered  n1", "42 ordered ring n[1-", "42 ordered ring "})
        EXPECT_EQ(parse_placed(text, "42"), std::nullopt) << text;
}

// Every second of 10,000 nodes: nothing to shorten.
TEST(placed, a_long_list_travels_as_its_hash) {
    Placed placed{true, "ring", {}, {}, {}};
    for (int i = 0; i < 10'000; i += 2) placed.hosts.push_back("node" + std::to_string(i));
    for (int i = 1; i < 10'000; i += 2) placed.hosts.push_back("node" + std::to_string(i));
    const std::string text = to_text(placed);
    EXPECT_EQ(text, "ordered ring #" + hash_of(placed.hosts));
    const auto read = parse_placed("42 " + text, "42");
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->ordered);
    EXPECT_TRUE(read->hosts.empty());
    EXPECT_EQ(read->hash, hash_of(placed.hosts));

    std::swap(placed.hosts[4], placed.hosts[5]);
    EXPECT_NE(read->hash, hash_of(placed.hosts));
}

}  // namespace
}  // namespace paced::helper
