// SPDX-License-Identifier: BSD-3-Clause
// What a program calls is what is recorded, in C and both Fortran bindings, under both MPIs; and its results are those
// that it has without us.
#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/mpi/job.h"

namespace paced::test {
namespace {

using report::Operation;

// The lines of all ranks come in any order.
std::string sorted_lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    std::ranges::sort(lines);
    std::string joined;
    for (const auto& line : lines) joined += line + "\n";
    return joined;
}

// Bytes of one call of calls.c and fortran.F90 on this rank.
std::uint64_t bytes_of(Operation operation, std::uint64_t rank, std::uint64_t size) {
    constexpr std::uint64_t count = 3, value = 4;
    switch (operation) {
        case Operation::barrier: return 0;
        case Operation::allgatherv:
        case Operation::gatherv:
        case Operation::scatterv: return (rank + 1) * value;
        case Operation::alltoall:
        case Operation::reduce_scatter_block: return count * value * size;
        case Operation::alltoallv:
        case Operation::alltoallw: return size * (rank + 1) * value;
        case Operation::reduce_scatter: return size * (size + 1) / 2 * value;
        default: return count * value;
    }
}

struct Case {
    Mpi mpi;
    const char* program;
    int ranks;
};

std::string case_name(const testing::TestParamInfo<Case>& test) { return name_of(test.param.mpi) + "_" + test.param.program; }

class Recording : public testing::TestWithParam<Case> {};

TEST_P(Recording, EveryCallWithItsBytes) {
    const auto& [mpi, program, ranks] = GetParam();
    if (!is_installed(mpi)) GTEST_SKIP() << name_of(mpi) << " is not installed";
    if (!std::filesystem::exists(PACED_FABRIC_BUILD_DIR "/tests/mpi/" + std::string(program) + "_" + name_of(mpi))) GTEST_SKIP() << "no Fortran compiler for " << name_of(mpi);
    Job job(mpi, ranks);
    const Outcome with = job.run(program);
    ASSERT_EQ(with.exit_code, 0) << with.err;
    EXPECT_EQ(with.err, "");
    const Outcome without = job.run_without(program);
    EXPECT_EQ(sorted_lines(with.out), sorted_lines(without.out));

    const auto trace = job.trace();
    EXPECT_TRUE(trace.warnings.empty());
    const auto recorded = ranks_of(trace);
    ASSERT_EQ(recorded.size(), static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r) {
        const auto& rank = recorded[static_cast<std::size_t>(r)];
        SCOPED_TRACE("rank " + std::to_string(r));
        EXPECT_EQ(rank.rank, r);
        EXPECT_EQ(rank.world_size, ranks);
        EXPECT_EQ(rank.library.substr(0, rank.library.find_first_of("0123456789")), mpi == Mpi::open_mpi ? "Open MPI " : "MPICH ");
        EXPECT_LT(rank.started_ns, rank.finished_ns);
        EXPECT_EQ(rank.dropped, 0u);
        EXPECT_EQ(rank.not_recorded, (std::map<std::string, std::uint64_t>{{"MPI_Iallreduce", 2}, {"MPI_Ibarrier", 1}}));
        ASSERT_EQ(rank.communicators.size(), std::string(program) == "calls" ? 1u : 2u);
        const auto& world = rank.communicators[0];
        EXPECT_EQ(world.id, recorded[0].communicators[0].id);
        EXPECT_EQ(world.size, static_cast<std::uint32_t>(ranks));
        EXPECT_EQ(world.rank, static_cast<std::uint32_t>(r));
        EXPECT_EQ(world.calls, 17u * 18 / 2);
        ASSERT_EQ(world.records.size(), world.calls);
        std::uint64_t sequence = 0, bytes = 0;
        for (std::uint64_t i = 0; i < 17; ++i) {
            const auto operation = static_cast<Operation>(i);
            EXPECT_EQ(world.calls_by_operation.at(operation), i + 1);
            for (std::uint64_t call = 0; call <= i; ++call, ++sequence) {
                const auto& record = world.records[sequence];
                EXPECT_EQ(record.sequence, sequence);
                EXPECT_EQ(record.operation, operation) << sequence;
                EXPECT_EQ(record.bytes, bytes_of(operation, static_cast<std::uint64_t>(r), static_cast<std::uint64_t>(ranks))) << "operation " << i << " call " << call;
                EXPECT_GE(record.completion_ns, record.arrival_ns);
                if (sequence > 0) {
                    EXPECT_GE(record.arrival_ns, world.records[sequence - 1].completion_ns);
                }
                bytes += record.bytes;
            }
        }
        EXPECT_EQ(world.bytes, bytes);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Recording,
                         testing::Values(Case{Mpi::open_mpi, "calls", 3}, Case{Mpi::open_mpi, "fortran_mpif", 3}, Case{Mpi::open_mpi, "fortran_f08", 3},
                                         Case{Mpi::mpich, "calls", 2}, Case{Mpi::mpich, "fortran_mpif", 2}, Case{Mpi::mpich, "fortran_f08", 2}),
                         case_name);

}  // namespace
}  // namespace paced::test
