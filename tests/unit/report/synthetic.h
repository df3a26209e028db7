// SPDX-License-Identifier: BSD-3-Clause
// A small bulk-synchronous program, played without any MPI: compute, then all-reduce buckets back to back, again and
// again. What goes wrong in it is known, so the report can be held against it. The same settings give the same trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/report/job_plan.h"
#include "policy/report/trace.h"

namespace paced::report::testing {

struct Program {
    int nodes = 8;
    int ranks_per_node = 1;
    int groups = 1;  // communicators, each of neighbouring ranks
    int iterations = 100;
    int buckets = 1;
    double compute_ms = 20;
    double jitter = .03;  // standard deviation over mean
    double service_ms = 2;
    double leave_us = 10;  // ranks leave a collective up to this much apart
    std::uint64_t bytes = 65536;
    double admitted_ms = 0;  // pacing lets the ranks of a group in so much after its last one has come

    int straggler = -1;  // rank
    double straggler_ms = 0;
    int contended_every = 0;  // iterations; one rank then leaves the first bucket much later
    double contended_ms = 0;
    int silent_rank = -1;  // leaves no record
    int killed_after = -1;  // iterations; all ranks are then inside the next collective, for ever
    double first_ms = 0;    // the first iteration takes this much longer
    int warmup_barriers = 0, epilogue_reduces = 0;
    bool loss_bucket = false;  // one more all-reduce of 8 bytes in each iteration

    double clock_offset_ms = 0;   // node n's clock is n times this behind the leader's
    double clock_drift_ppm = 0;   // and n times this slower
    double clock_error_us = 5;
    bool clocks_sampled = true;
    std::uint64_t keep_every = 1;  // of blocks of 256

    std::uint64_t seed = 1;
};

struct Played {
    Trace trace;
    std::vector<double> iteration_ms;  // of rank 0 by its own reckoning: before compute to after the last bucket
};

Played play(const Program& program);

// A plan for n1, n2, ... on two leaves, with a table of two GPUs a node.
std::vector<JobPlan> plans_for(const Program& program);

}  // namespace paced::report::testing
