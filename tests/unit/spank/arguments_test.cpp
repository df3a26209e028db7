// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugin/spank/arguments.h"

namespace paced::spank {
namespace {

std::string refused(std::vector<std::string> words, Arguments& arguments) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    const char* const word = parse_arguments(static_cast<int>(words.size()), pointers.data(), arguments);
    return word == nullptr ? "" : word;
}

TEST(arguments, none_means_the_defaults) {
    Arguments arguments;
    EXPECT_EQ(parse_arguments(0, nullptr, arguments), nullptr);
    EXPECT_EQ(arguments.config.view(), "/etc/paced-fabric/policy.toml");
    EXPECT_EQ(arguments.deadline_ms, 2000);
    EXPECT_TRUE(arguments.node_topology.empty() && arguments.topology.empty() && arguments.helper_dir.empty());
}

TEST(arguments, all_of_them) {
    Arguments arguments;
    EXPECT_EQ(refused({"config=/a/p.toml", "node_topology=/b=c", "topology=/d", "helper_dir=/e", "deadline_ms=500"}, arguments), "");
    EXPECT_EQ(arguments.config.view(), "/a/p.toml");
    EXPECT_EQ(arguments.node_topology.view(), "/b=c");
    EXPECT_EQ(arguments.topology.view(), "/d");
    EXPECT_EQ(arguments.helper_dir.view(), "/e");
    EXPECT_EQ(arguments.deadline_ms, 500);
}

TEST(arguments, the_first_wrong_word_is_named) {
    const std::string too_long = "config=/" + std::string(5000, 'x');
    for (const std::string& word : {std::string("colour=blue"), std::string("config"), std::string("config="), std::string("config=policy.toml"),
                                    std::string(""), std::string("deadline_ms="), std::string("deadline_ms=49"), std::string("deadline_ms=60001"),
                                    std::string("deadline_ms=1s"), std::string("deadline_ms=-5"), std::string("deadline_ms=99999999999"), too_long}) {
        Arguments arguments;
        EXPECT_EQ(refused({"topology=/x", word, "also-wrong"}, arguments), word);
    }
}

TEST(arguments, the_kill_switch_stands_beside_the_policy) {
    Arguments arguments;
    Path path;
    refused({}, arguments);
    ASSERT_TRUE(arguments.kill_switch(path));
    EXPECT_EQ(path.view(), "/etc/paced-fabric/disabled");
    refused({"config=/policy.toml"}, arguments);
    ASSERT_TRUE(arguments.kill_switch(path));
    EXPECT_EQ(path.view(), "/disabled");
}

}  // namespace
}  // namespace paced::spank
