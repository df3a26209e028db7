// SPDX-License-Identifier: BSD-3-Clause
#include "policy/topology/host_list.h"

#include <ctime>

#include <gtest/gtest.h>

#include "policy/base/text.h"

namespace paced::topology {
namespace {

std::string joined(const HostList& list) {
    return join(list.hosts, " ");
}

TEST(HostList, Expands) {
    const struct {
        const char *text, *hosts;
    } cases[] = {
        {"", ""},
        {"n1", "n1"},
        {"n[1-4,7]", "n1 n2 n3 n4 n7"},
        {"n[08-11]", "n08 n09 n10 n11"},
        {"n[8-11]", "n8 n9 n10 n11"},
        {"n[099-101],m", "n099 n100 n101 m"},
        {"rack[1-2]-[0-1]", "rack1-0 rack1-1 rack2-0 rack2-1"},
        {"a[1-2]b[3,5]c", "a1b3c a1b5c a2b3c a2b5c"},
        {"n2,n1,n2", "n2 n1 n2"},
        {" n1 , n[2-3] ", "n1 n2 n3"},
        {"n1,,n2,", "n1 n2"},
        {"[1-3]", "1 2 3"},
        {"n[5]", "n5"},
        {"login,n[1-2].cluster.example", "login n1.cluster.example n2.cluster.example"},
        {"0x155dfffd33ff7d,0x1", "0x155dfffd33ff7d 0x1"},
        {"n[999999999999999998-999999999999999999]", "n999999999999999998 n999999999999999999"},
    };
    for (const auto& each : cases) {
        const HostList list = expand_hosts(each.text);
        EXPECT_TRUE(list.errors.empty()) << each.text << ": " << (list.errors.empty() ? "" : list.errors[0].message);
        EXPECT_EQ(joined(list), each.hosts);
    }
}

TEST(HostList, SaysWhatIsWrongAndWhere) {
    const struct {
        std::string text;
        std::size_t position;
        const char* message;
    } cases[] = {
        {"n[1-4", 1, "'[' is not closed"},
        {"n[", 1, "'[' is not closed"},
        {"n[1,", 1, "'[' is not closed"},
        {"n[]", 2, "a number is missing in brackets"},
        {"n[1,,2]", 4, "a number is missing in brackets"},
        {"n[-2]", 2, "a number is missing in brackets"},
        {"n[1-]", 4, "a number is missing in brackets"},
        {"leaf[A-B]", 5, "'A' in brackets; they hold numbers and ranges: [1-4,7]"},
        {"n[1-4;7]", 5, "';' in brackets; they hold numbers and ranges: [1-4,7]"},
        {"n[[1]]", 2, "'[' in brackets; they hold numbers and ranges: [1-4,7]"},
        {"n[4-1]", 2, "the range 4-1 runs backwards"},
        {"a,n1]", 4, "']' without '['"},
        {"n1 n2", 3, "a comma is missing before 'n'"},
        {"n[1-1000000],m[1-2]", 13, "more than 1000000 hosts"},
        {"n[0-999999999999999999]", 0, "more than 1000000 hosts"},
        {"a,n[0-9999][0-9999][0-9999][0-9999][0-9999]", 2, "more than 1000000 hosts"},
        {"n[1-1234567890123456789]", 4, "a number of more than 18 digits"},
        {std::string(256, 'n'), 0, "a host name of more than 255 characters"},
        {"n\x01", 1, "a control character in a host name"},
    };
    for (const auto& each : cases) {
        const HostList list = expand_hosts(each.text);
        EXPECT_TRUE(list.hosts.empty()) << each.text;
        ASSERT_EQ(list.errors.size(), 1u) << each.text;
        EXPECT_EQ(list.errors[0].message, each.message) << each.text;
        EXPECT_EQ(list.errors[0].position, each.position) << each.text;
    }
}

TEST(HostList, AHostileListIsRefusedAtOnce) {
    std::string many;
    for (int i = 0; i < 2000; ++i) many += "[0-99999999]";
    const std::clock_t start = std::clock();
    EXPECT_EQ(expand_hosts(many).errors.size(), 1u);
    EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC / 5);
}

TEST(HostList, CompressesInOrder) {
    const struct {
        const char *hosts, *text;
    } cases[] = {
        {"n1", "n1"},
        {"n1 n2 n3", "n[1-3]"},
        {"n1 n2 n3 n7", "n[1-3,7]"},
        {"n1 n2 n3 n7 m1 n8", "n[1-3,7],m1,n8"},
        {"n3 n2 n1", "n[3,2,1]"},
        {"n08 n09 n10", "n[08-10]"},
        {"n8 n9 n10", "n[8-10]"},
        {"n9 n010", "n[9,010]"},
        {"login n1 n2 login", "login,n[1-2],login"},
        {"n1 n1", "n[1,1]"},
        {"a b", "a,b"},
        {"rack1-0 rack1-1 rack2-0", "rack1-[0-1],rack2-0"},
    };
    for (const auto& each : cases) {
        std::vector<std::string> hosts;
        for (auto host : split(each.hosts, ' ')) hosts.emplace_back(host);
        EXPECT_EQ(compress_hosts(hosts), each.text);
        EXPECT_EQ(joined(expand_hosts(each.text)), each.hosts);  // and back
    }
    EXPECT_EQ(compress_hosts({}), "");
}

// 100,000 names without brackets took 49 s, as each one moved all before it.
TEST(HostList, ALongPlainListIsReadInOnePass) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "n" + std::to_string(i) + ',';
    const std::clock_t start = std::clock();
    EXPECT_EQ(expand_hosts(text).hosts.size(), 100'000u);
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 5.0);
}

}  // namespace
}  // namespace paced::topology
