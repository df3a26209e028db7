// SPDX-License-Identifier: BSD-3-Clause
// The interposer's numbers of the recorded functions are those of the report.
#include "plugin/interposer/mpi/operations.h"

#include <gtest/gtest.h>

#include "policy/report/trace.h"

namespace paced::interposer {
namespace {

TEST(Operations, AreTheReports) {
#define PACED_SAME(Name, name, NAME, arity, large, shape) \
    EXPECT_EQ(static_cast<unsigned>(Operation::name), static_cast<unsigned>(report::Operation::name)) << #name;
    PACED_RECORDED_FUNCTIONS(PACED_SAME)
#undef PACED_SAME
    EXPECT_EQ(segment::operation_limit, report::operation_count);
}

TEST(Operations, CountedFunctionsAreTheSegments) {
    std::uint32_t count = 0;
#define PACED_ONE(Name, name, NAME, arity, large) \
    EXPECT_EQ(static_cast<std::uint32_t>(segment::Counter::Name), count++) << #Name;
    PACED_COUNTED_WRAPPERS(PACED_ONE)
#undef PACED_ONE
    // and two that are no function of MPI
    EXPECT_EQ(segment::Counter::unknown_context, static_cast<segment::Counter>(count + 1));
    EXPECT_EQ(count + 2, segment::counter_count);
}

}  // namespace
}  // namespace paced::interposer
