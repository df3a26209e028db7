// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/topology_conf.h"

#include <gtest/gtest.h>

#include "policy/base/text.h"
#include "policy/topology/host_list.h"
#include "tests/doubles/fabric_text.h"
#include "tests/doubles/temporary_folder.h"

namespace paced::io {
namespace {

using topology::FabricTopology;

using test::text_of;

TEST(TopologyConf, TreesAndBlocks) {
    const struct {
        const char *text, *fabric;
    } cases[] = {
        {"SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n3\nSwitchName=root Switches=s[1-2]\n", "root(s1:n[1-2] s2:n3)"},
        {"switchname=s1 NODES=n1\nSWITCHNAME=s2 nodes=n2\n", "s1:n1 s2:n2"},
        {"SwitchName=root Switches=mid,s3\nSwitchName=mid Switches=s[1-2]\nSwitchName=s1 Nodes=n1\nSwitchName=s2 Nodes=n2\nSwitchName=s3 "
         "Nodes=n3\n",
         "root(mid(s1:n1 s2:n2) s3:n3)"},
        {"# head\nSwitchName=s1\tNodes=n1  LinkSpeed=100 # tail\n", "s1:n1"},
        {"SwitchName=s1 \\\n  Nodes=n[1-\\\n3]\n", "s1:n[1-3]"},
        {"SwitchName=s1 Nodes=\"n[1-3],n5\"\n", "s1:n[1-3,5]"},
        {"BlockName=b1 Nodes=n[01-04]\nBlockName=b2 Nodes=n[05-08]\nBlockSizes=4,8\n", "b1:n[01-04] b2:n[05-08]"},
        {"BlockName=b1 Nodes=n1\nBlockLevels=0,1\n", "b1:n1"},
    };
    for (const auto& each : cases) {
        Diagnostics diagnostics;
        const auto fabric = parse_topology_conf(each.text, "t.conf", diagnostics);
        EXPECT_EQ(format(diagnostics), "") << each.text;
        ASSERT_TRUE(fabric) << each.text;
        EXPECT_EQ(text_of(*fabric), each.fabric);
        EXPECT_EQ(fabric->kind,
                  std::string_view(each.text).starts_with("Block") ? topology::FabricKind::blocks : topology::FabricKind::tree);
        EXPECT_EQ(fabric->origin, "t.conf");
    }
}

TEST(TopologyConf, WarningsLeaveItUsable) {
    const struct {
        const char *text, *message, *fabric;
    } cases[] = {
        {"", "t.conf: warning: no switch in this file: no host's place is known\n", ""},
        {"SwitchName=s1\n", "t.conf:1:1: warning: switch 's1' has neither nodes nor switches\n", "s1"},
        {"BlockName=b1\n", "t.conf:1:1: warning: block 'b1' has neither nodes nor switches\n", "b1"},
        {"SwitchName=s0 Nodes=dgx-n[001-002],n[003-004]\n",
         "t.conf:1:36: warning: 'n[003-004]' lacks the prefix of 'dgx-n[001-002]' before it\n    hint: did you mean 'dgx-n[003-004]'?\n",
         "s0:dgx-n[001-002],n[003-004]"},
        {"SwitchName=s0 Nodes=n1,2\n", "", "s0:n1,2"},  // a host called 2 is odd, but nobody says that it is not there
        {"SwitchName=s1 Nodes=n1\nSwitchName=s2 Nodes=n1,n2\n",
         "t.conf:2:12: warning: n1 is on several switches: s1, s2\n"
         "    hint: where they really are cannot be known from this, so jobs with them keep their order\n",
         "s1 s2:n2"},
    };
    for (const auto& each : cases) {
        Diagnostics diagnostics;
        const auto fabric = parse_topology_conf(each.text, "t.conf", diagnostics);
        EXPECT_EQ(format(diagnostics), each.message);
        ASSERT_TRUE(fabric) << each.text;
        EXPECT_EQ(text_of(*fabric), each.fabric);
    }
}

TEST(TopologyConf, ErrorsAllInOneRun) {
    const struct {
        const char *text, *message;
    } cases[] = {
        {"SwitchName=s1 Nodes=leaf[A-B]\n", "t.conf:1:26: error: 'A' in brackets; they hold numbers and ranges: [1-4,7]\n"},
        {"SwitchName=s1 Nodes=n[1-\\\n4;7]\n", "t.conf:2:2: error: ';' in brackets; they hold numbers and ranges: [1-4,7]\n"},
        {"SwitchName=s1 Node=n1\n",
         "t.conf:1:15: error: unknown key 'Node' of a switch\n    hint: did you mean 'Nodes'?\n"
         "t.conf:1:1: warning: switch 's1' has neither nodes nor switches\n"},
        {"BlockName=b1 Nodes=n1 LinkSpeed=1\n", "t.conf:1:23: error: unknown key 'LinkSpeed' of a block\n"},
        {"SwitchName=s1 Nodes=n1 nodes=n2\n", "t.conf:1:24: error: Nodes= a second time in one line\n"},
        {"Nodes=n1 SwitchName=s1\n",
         "t.conf:1:1: error: a line of topology.conf starts with SwitchName= or BlockName=, not with 'Nodes'\n"},
        {"SwichName=s1 Nodes=n1\n",
         "t.conf:1:1: error: a line of topology.conf starts with SwitchName= or BlockName=, not with 'SwichName'\n    hint: did you mean "
         "'SwitchName'?\n"},
        {"SwitchName=root Switches=s[1-2]\nSwitchName=s1 Nodes=n1\n",
         "t.conf:1:12: error: switch 'root' names 's2', which is not defined\n    hint: did you mean 's1'?\n"},
        {"SwitchName=s1 Nodes=n1\nBlockName=b1 Nodes=n2\n", "t.conf:2:1: error: blocks and switches in one file; Slurm takes either\n"},
        {"SwitchName=s1 Nodes=n[1\nwhat\nSwitchName=s2 Nodes=n[2\n",
         "t.conf:2:1: error: 'what' is no Key=Value\n"
         "t.conf:1:22: error: '[' is not closed\n"
         "t.conf:3:22: error: '[' is not closed\n"},
    };
    for (const auto& each : cases) {
        Diagnostics diagnostics;
        EXPECT_FALSE(parse_topology_conf(each.text, "t.conf", diagnostics)) << each.text;
        EXPECT_EQ(format(diagnostics), each.message);
    }
}

TEST(TopologyConf, FollowsIncludes) {
    const test::TemporaryFolder folder;
    const std::string path = folder.write("topology.conf", "Include rows/a.conf\nSwitchName=root Switches=s[1-2]\ninclude rows/b.conf\n");
    folder.write("rows/a.conf", "SwitchName=s1 Nodes=n1\n");
    folder.write("rows/b.conf", "SwitchName=s2 Nodes=n2\n");
    Diagnostics diagnostics;
    const auto fabric = read_topology_conf(path, diagnostics);
    ASSERT_TRUE(fabric) << format(diagnostics);
    EXPECT_EQ(text_of(*fabric), "root(s1:n1 s2:n2)");

    folder.write("rows/b.conf", "SwitchName=s2 Nodes=n[\n");
    EXPECT_FALSE(read_topology_conf(path, diagnostics));
    EXPECT_EQ(format(diagnostics), folder.path().string() + "/rows/b.conf:1:22: error: '[' is not closed\n");
}

TEST(TopologyConf, IncludesThatCannotBeFollowed) {
    const test::TemporaryFolder folder;
    const std::string itself = folder.write("loop.conf", "Include loop.conf\n");
    Diagnostics loop;
    EXPECT_FALSE(read_topology_conf(itself, loop));
    EXPECT_EQ(format(loop), itself + ":1:9: error: includes are nested more than 8 deep; does a file include itself?\n");

    const std::string missing = folder.write("topology.conf", "Include none.conf\n");
    Diagnostics diagnostics;
    EXPECT_FALSE(read_topology_conf(missing, diagnostics));
    EXPECT_EQ(format(diagnostics),
              missing + ":1:9: error: cannot read " + folder.path().string() + "/none.conf: No such file or directory\n");

    Diagnostics none;
    EXPECT_FALSE(read_topology_conf(folder.path().string() + "/none.conf", none));
    EXPECT_EQ(format(none), "error: cannot read " + folder.path().string() + "/none.conf: No such file or directory\n");
}

}  // namespace
}  // namespace paced::io
