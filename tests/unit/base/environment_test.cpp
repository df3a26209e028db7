// SPDX-License-Identifier: BSD-3-Clause
#include "policy/base/environment.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace paced {
namespace {

TEST(Environment, TellsEmptyFromMissing) {
    Environment environment({{"A", "1"}, {"EMPTY", ""}});
    EXPECT_EQ(environment.get("A"), "1");
    EXPECT_EQ(environment.get("EMPTY"), "");
    EXPECT_EQ(environment.get("B"), std::nullopt);
    EXPECT_EQ(environment.get_or("EMPTY", "x"), "");
    EXPECT_EQ(environment.get_or("B", "x"), "x");
    environment.set("A", "2");
    EXPECT_EQ(environment.get("A"), "2");
}

TEST(Environment, CaptureIsACopy) {
    ASSERT_EQ(setenv("PACED_TEST_VALUE", "a=b", 1), 0);
    const Environment captured = Environment::capture();
    ASSERT_EQ(unsetenv("PACED_TEST_VALUE"), 0);
    EXPECT_EQ(captured.get("PACED_TEST_VALUE"), "a=b");
    EXPECT_EQ(Environment::capture().get("PACED_TEST_VALUE"), std::nullopt);
}

}  // namespace
}  // namespace paced
