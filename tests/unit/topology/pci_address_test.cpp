// SPDX-License-Identifier: BSD-3-Clause
#include "policy/topology/pci_address.h"

#include <gtest/gtest.h>

namespace paced::topology {
namespace {

TEST(PciAddress, IsReadAndWrittenInFull) {
    const struct {
        const char *text, *full;
    } cases[] = {
        {"0000:06:00.0", "0000:06:00.0"},         {"06:00.0", "0000:06:00.0"},          {"0035:03:1F.7", "0035:03:1f.7"},
        {"0000:C1:00", "0000:c1:00.0"},           {"00000000:C1:00.0", "0000:c1:00.0"}, {"10000:01:00.0", "10000:01:00.0"},
        {"ffffffff:ff:1f.7", "ffffffff:ff:1f.7"}, {"0:6:0.0", "0000:06:00.0"},
    };
    for (const auto& each : cases) {
        const auto address = parse_pci_address(each.text);
        ASSERT_TRUE(address) << each.text;
        EXPECT_EQ(to_string(*address), each.full);
    }
}

TEST(PciAddress, RefusesAnythingElse) {
    for (const char* text :
         {"", "06", ":", "::", "0000:06:00.8", "0000:06:20.0", "0000:100:00.0", "0000:06:00.", "0000:06:00.00", "g000:06:00.0",
          "0000:06:00.0 ", " 06:00.0", "-1:00.0", "+1:00.0", "100000000:06:00.0", "0000:06:00.0:1", "0x06:00.0"})
        EXPECT_FALSE(parse_pci_address(text)) << text;
}

TEST(PciAddress, SortsAsTheBusDoes) {
    EXPECT_LT(*parse_pci_address("0000:ff:1f.7"), *parse_pci_address("0001:00:00.0"));
    EXPECT_LT(*parse_pci_address("0000:09:00.0"), *parse_pci_address("0000:10:00.0"));
    EXPECT_LT(*parse_pci_address("0000:09:00.0"), *parse_pci_address("0000:09:00.1"));
}

}  // namespace
}  // namespace paced::topology
