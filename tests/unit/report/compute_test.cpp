// SPDX-License-Identifier: BSD-3-Clause
// What ranks computed, out of what they recorded.
#include "policy/report/compute.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "policy/report/analysis.h"
#include "tests/unit/report/synthetic.h"

namespace paced::report {
namespace {

using testing::play;
using testing::Program;

Compute compute_of(const Program& program) { return analyse(play(program).trace, {}).compute; }

std::vector<double> of_rank(const Compute& compute, std::size_t rank) {
    std::vector<double> ms;
    for (std::size_t i = rank; i < compute.ms.size(); i += compute.ranks.size()) ms.push_back(compute.ms[i]);
    return ms;
}

double mean(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()); }

TEST(Compute, IsWhatRanksDidBetweenTheirCollectives) {
    Program program;
    program.buckets = 4;
    program.loss_bucket = true;
    program.straggler = 5;
    program.straggler_ms = 20;
    const Compute compute = compute_of(program);
    EXPECT_EQ(compute.ranks, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
    ASSERT_EQ(compute.ms.size() % 8, 0u);
    EXPECT_GE(compute.ms.size() / 8, 98u) << "of 100 iterations, the first has no beginning";
    for (std::size_t rank = 0; rank < 8; ++rank) {
        const std::vector<double> ms = of_rank(compute, rank);
        EXPECT_NEAR(mean(ms), rank == 5 ? 40 : 20, .3) << rank;
        double squares = 0;
        for (const double one : ms) squares += (one - mean(ms)) * (one - mean(ms));
        EXPECT_NEAR(std::sqrt(squares / static_cast<double>(ms.size())), .6, .15) << "3 % of 20 ms, rank " << rank;
    }
}

TEST(Compute, OfGroupsThatMeetNowhere) {
    Program program;
    program.groups = 4;
    const Compute compute = compute_of(program);
    ASSERT_EQ(compute.ranks.size(), 8u);
    for (std::size_t rank = 0; rank < 8; ++rank) EXPECT_NEAR(mean(of_rank(compute, rank)), 20, .3) << rank;
}

// Of a long job blocks of calls are kept, the same ones on all ranks: no iteration may reach over a gap.
TEST(Compute, OfASample) {
    Program program;
    program.iterations = 6000;
    program.nodes = 2;
    program.keep_every = 4;
    const Compute compute = compute_of(program);
    ASSERT_EQ(compute.ranks.size(), 2u);
    EXPECT_EQ(compute.ms.size(), 2 * compute_iterations);
    for (const double ms : compute.ms) EXPECT_LT(ms, 30);
}

TEST(Compute, NothingWhereItIsNotKnown) {
    Program program;
    program.iterations = 3;
    EXPECT_TRUE(compute_of(program).ranks.empty()) << "no iterations are found in so few";
    program.iterations = 100;
    program.silent_rank = 3;
    EXPECT_EQ(compute_of(program).ranks.size(), 7u);
}

TEST(Compute, JsonKeepsIt) {
    Program program;
    program.nodes = 2;
    const Report report = analyse(play(program).trace, {});
    const Result<Report> read = parse_report(to_json(report));
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->compute.ms.size(), report.compute.ms.size());
    for (std::size_t i = 0; i < report.compute.ms.size(); ++i) EXPECT_NEAR(read->compute.ms[i], report.compute.ms[i], 5.1e-4);
    Report two;
    two.compute.ranks = {0, 1};
    two.compute.ms = {1, 2.5, 3, 4};
    std::string json = to_json(two);
    const std::string rows = "\"ms\": [\n   [1.0,2.5],\n   [3.0,4.0]\n  ]";
    ASSERT_NE(json.find(rows), std::string::npos) << json;
    EXPECT_EQ(parse_report(json)->compute, two.compute);
    json.replace(json.find("[3.0,4.0]"), 9, "[3.0]");
    EXPECT_FALSE(parse_report(json)) << "a line is too short";
}

}  // namespace
}  // namespace paced::report
