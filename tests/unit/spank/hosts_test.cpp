// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugin/spank/hosts.h"
#include "policy/topology/host_list.h"

namespace paced::spank {
namespace {

class HostsTest : public testing::Test {
protected:
    std::string expand(std::string_view list) {
        if (!hosts->expand(list)) return "(refused)";
        std::string text;
        for (std::uint32_t i = 0; i < hosts->count; ++i) text += (i > 0 ? " " : "") + std::string(hosts->name(i));
        return text;
    }
    std::string order(std::string_view text) {
        if (!hosts->new_order(text)) return "(refused)";
        std::string names;
        for (std::uint32_t i = 0; i < hosts->count; ++i) names += (i > 0 ? " " : "") + std::string(hosts->name(hosts->order[i]));
        return names;
    }
    std::unique_ptr<Hosts> hosts = std::make_unique<Hosts>();
};

TEST_F(HostsTest, lists_of_slurm) {
    EXPECT_EQ(expand("n1"), "n1");
    EXPECT_EQ(expand("n[1-3,7],login"), "n1 n2 n3 n7 login");
    EXPECT_EQ(expand("n[08-11]"), "n08 n09 n10 n11");
    EXPECT_EQ(expand("n[1,03]"), "n1 n03");
    EXPECT_EQ(expand("r[1-2]n[0-1]x"), "r1n0x r1n1x r2n0x r2n1x");
    EXPECT_EQ(expand("gpu-a.b_c[5]"), "gpu-a.b_c5");
    EXPECT_EQ(expand("n[0-0]"), "n0");
}

TEST_F(HostsTest, what_is_none) {
    for (const char* list : {"", ",", "n1,", ",n1", "n1,,n2", "n[", "n[]", "n[1", "n]1", "n[1-]", "n[-1]", "n[2-1]", "n[1,]", "n[a-b]", "n[1-2", "n1 n2", "n1\n",
                             "n[1-2]]", "n[[1]]", "../x", "n[0-99999999]", "n[0-9999999999]", "a[1][1][1][1][1][1][1][1][1]"})
        EXPECT_EQ(expand(list), "(refused)") << list;
    EXPECT_EQ(expand(std::string(300, 'n')), "(refused)");
    EXPECT_TRUE(hosts->expand("n[0-65535]"));
    EXPECT_FALSE(hosts->expand("n[0-65536]"));
    EXPECT_FALSE(hosts->expand("n[0-40000],m[0-40000]"));
    EXPECT_FALSE(hosts->expand(std::string(200, 'n') + "[0-65535]"));  // their names do not fit
}

// The helper reads lists with another reader; positions must mean the same to both.
TEST_F(HostsTest, agrees_with_the_helpers_reader) {
    for (const char* list : {"n[1-3,7],login", "n[08-11],n[1-2]", "rack[1-2]-node[00-03]", "a[1,3-4]b[2],c", "x[9-10]", "n[1,03,5-07]"}) {
        const topology::HostList theirs = topology::expand_hosts(list);
        std::string text;
        for (const std::string& host : theirs.hosts) text += (text.empty() ? "" : " ") + host;
        EXPECT_EQ(expand(list), text) << list;
    }
}

TEST_F(HostsTest, an_order_has_every_host_once_and_the_first_one_first) {
    ASSERT_TRUE(hosts->expand("n[1-8]"));
    EXPECT_EQ(order("0,2,4,6,1,3,5,7"), "n1 n3 n5 n7 n2 n4 n6 n8");
    EXPECT_EQ(order("0-7"), "n1 n2 n3 n4 n5 n6 n7 n8");
    EXPECT_EQ(order("0,4-7,1-3"), "n1 n5 n6 n7 n8 n2 n3 n4");
    for (const char* text : {"", ",", "0", "0-6", "0-8", "0-7,", "0-7,7", "0,0,1,2,3,4,5,6", "1,0,2-7", "7-0", "-1", "0-7,8", "a", "0 1 2 3 4 5 6 7", "0,2,4,6,1,3,5,4294967297",
                             "0-3,4294967295"})
        EXPECT_EQ(order(text), "(refused)") << text;
}

}  // namespace
}  // namespace paced::spank
