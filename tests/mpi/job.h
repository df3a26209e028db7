// SPDX-License-Identifier: BSD-3-Clause
// A small MPI job on this machine, with the interposer or without, and what it recorded.
//
//     Job job(Mpi::open_mpi, 2);
//     const Outcome outcome = job.run("calls");
//     EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
//     const auto trace = job.trace();
#pragma once

#include <map>
#include <string>
#include <vector>

#include "policy/report/trace.h"

namespace paced::test {

enum class Mpi { open_mpi, mpich };
std::string name_of(Mpi mpi);  // as in the programs' names: "openmpi"
bool is_installed(Mpi mpi);
// Did both jobs end alike? MPICH's launcher kills the ranks that are left when the first one fails, and answers sometimes with that one's code,
// sometimes with that of a rank that it killed.
bool ended_alike(Mpi mpi, int exit_code, int other);

struct Outcome {
    int exit_code = -1;
    std::string out, err;
    double seconds = 0;
};

// Runs a command with these variables beside the present ones.
Outcome execute(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment = {});

class Job {
public:
    // ranks dealt out to pretended nodes, each with a run folder of its own; node 0 leads.
    Job(Mpi mpi, int ranks, int nodes = 1);
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    // A program of tests/mpi/programs by its name, or any by its path.
    Outcome run(const std::string& program, const std::vector<std::string>& arguments = {});
    Outcome run_without(const std::string& program, const std::vector<std::string>& arguments = {});

    // Of the variables that as_rank reads, or others.
    void set(const std::string& name, const std::string& value) { environment_[name] = value; }
    std::string folder(int node = 0) const { return root_ + "/n" + std::to_string(node); }
    // A link to the interposer: LD_PRELOAD cannot carry a path with blanks.
    std::string library() const { return root_ + "/libpaced_fabric.so"; }
    const std::string& session() const { return environment_.at("TEST_SESSION"); }

    // What node 0 would report from; fails the test where there is nothing.
    report::Trace trace() const;

private:
    std::vector<std::string> launcher() const;
    std::string path_of(const std::string& program) const;

    Mpi mpi_;
    int ranks_;
    std::string root_;
    std::map<std::string, std::string> environment_;
};

// Of the ranks of a trace, in the order of their numbers.
std::vector<report::RankTrace> ranks_of(const report::Trace& trace);

}  // namespace paced::test
