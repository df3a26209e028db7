// SPDX-License-Identifier: BSD-3-Clause
// Report: everything that the text and HTML reports say comes from here, and it is the JSON report
// ("paced-fabric-report/1"). Made by analysis.h, or read back by parse_report. Keys may be added, never renamed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/result.h"
#include "policy/report/job_plan.h"
#include "policy/report/order_run.h"
#include "policy/report/statistics.h"

namespace paced::report {

inline constexpr std::string_view schema = "paced-fabric-report/1";

// What was decided, from the plans of the nodes that had one.
struct PlanSummary {
    FabricView fabric;
    OrderView order;              // worked out at the launch
    OrderRun order_run;           // as the ranks then ran
    std::vector<NodePlan> nodes;  // by index
    std::vector<std::string> kept, notes;

    friend bool operator==(const PlanSummary&, const PlanSummary&) = default;
};

// Shares are of the late collectives (lateness.h) of the communicators that the rank is in.
struct RankReport {
    int rank = -1;
    std::string node;
    double last_share = 0;      // of the late collectives: how many found this rank last
    double earliness_ms = 0;    // mean of last arrival - own arrival over the collectives that count
    std::uint64_t late = 0;     // late collectives of its communicators
    double lateness_share = 0;  // of all waiting in them: how much was for this rank
    double cost_s = 0;          // sum of last arrival - last but one, where this rank was last
    double elapsed_s = 0;       // first kept arrival to last kept completion
    double collectives_s = 0;   // of these, inside collectives
    std::uint64_t calls = 0;
    bool finished = false;  // reached MPI_Finalize

    friend bool operator==(const RankReport&, const RankReport&) = default;
};

// A rank that others wait for again and again. Named, never paced.
struct Straggler {
    int rank = -1;
    std::string node;
    double last_share = 0, lateness_share = 0;
    double cost_s = 0;                             // over the recorded part
    std::optional<double> cost_ms_per_iteration;  // where iterations are known
    double cost_share = 0;                         // of the elapsed time

    friend bool operator==(const Straggler&, const Straggler&) = default;
};

struct CommunicatorReport {
    std::string id;              // 16 hexadecimal digits
    std::uint32_t size = 0;
    std::vector<int> ranks;      // members that recorded, as world ranks
    std::uint64_t calls = 0;     // collectives made
    std::uint64_t bytes = 0;     // payload, summed over calls and ranks
    std::map<std::string, std::uint64_t> operations;  // collectives by operation
    std::uint64_t kept = 0;      // collectives of which records were kept
    std::uint64_t matched = 0;   // synchronizing ones with all members present; the next six add up to it
    std::uint64_t late = 0, tied = 0, on_time = 0, inherited = 0, contended = 0, first = 0;
    Distribution wait, service;  // of the matched: per rank and collective; per collective

    friend bool operator==(const CommunicatorReport&, const CommunicatorReport&) = default;
};

// Iterations of the program as its collectives show them (iterations.h). count 0: none found, remark says why.
struct Iterations {
    std::size_t count = 0;
    double mean_ms = 0, cv = 0, p50_ms = 0, p99_ms = 0;
    int collectives = 0;         // in one iteration
    std::size_t startup = 0;     // slow first iterations, left out of the figures
    double startup_ms = 0;       // how long they took together
    int rank = -1;               // whose time it is
    std::string remark;

    friend bool operator==(const Iterations&, const Iterations&) = default;
};

// Where the mean rank's time went, in seconds; the parts add up to elapsed (attribution.h).
struct Attribution {
    double elapsed = 0;
    double compute = 0;  // outside of collectives
    double service = 0;  // in collectives after the last arrival, as long as an undisturbed one takes
    double persistent_straggler = 0, transient_straggler = 0, contention = 0, locality = 0, pacing = 0;
    double startup = 0;       // waiting in the first collective of each communicator
    double unattributed = 0;  // in collectives that lateness is not worked out from
    std::vector<std::string> not_measured;

    friend bool operator==(const Attribution&, const Attribution&) = default;
};

struct Overhead {
    std::uint64_t recorder_calls = 0;    // over all ranks
    std::optional<double> ns_per_call;   // as measured on this machine; nothing: not known
    double percent = 0;                  // of the elapsed time of the mean rank

    friend bool operator==(const Overhead&, const Overhead&) = default;
};

struct Coverage {
    std::string library;
    std::vector<int> ranks;
    std::uint64_t calls = 0;     // collectives counted, over all ranks
    std::uint64_t kept = 0;      // of which records were kept
    std::uint64_t dropped = 0;   // on communicators beyond the segment's limit
    std::map<std::string, std::uint64_t> not_recorded;  // by function

    friend bool operator==(const Coverage&, const Coverage&) = default;
};

// ---- pacing (pacing_accounts.h makes these from what the leader left)

// Of throughput, in percent, with a 95 % interval. An end that is not known is far away.
struct Gain {
    double percent = 0, low = 0, high = 0;

    friend bool operator==(const Gain&, const Gain&) = default;
};

// One setting that the law tried on one class, in the order in which it tried them.
struct Arm {
    std::string label;    // PacedClass::label
    std::string arm;      // "admit"
    std::string setting;  // as [pacing] arms of the policy spells it: "admit:1"
    std::string meaning;  // in words: "one communicator at a time"
    int pairs = 0, blocks = 0;
    std::uint64_t first_iteration = 0, decided_at_iteration = 0;
    std::optional<std::uint64_t> engaged_at_iteration;  // nothing: it never was
    std::optional<Gain> probe;  // of the experiment; decides, is not claimed
    std::optional<Gain> gain;   // claimed: from blocks without pacing after engagement
    int holdout_blocks = 0;     // how many
    double mean_ms = 0, cv = 0, off_mean_ms = 0, off_cv = 0;  // engaged blocks, and those without pacing beside them; 0: none
    double held_ms = 0;         // our delays, per rank and iteration, in its blocks
    std::uint64_t held_calls = 0, timeouts = 0;  // calls of ranks that were delayed, and delays that only their deadline ended
    std::string ended;          // law.h: "engaged", "no gain", "loses", ...

    friend bool operator==(const Arm&, const Arm&) = default;
};

// Communicators that behave alike and are paced alike.
struct PacedClass {
    std::string label;      // "4 communicators of 2 ranks, allreduce 128 KiB, across leaves"; no two are the same
    int communicators = 0, size = 0;
    std::string operation;  // of its largest calls; empty: not known
    std::uint64_t bytes = 0;
    bool across_leaves = false;
    std::uint64_t iterations = 0, blocks = 0, void_blocks = 0;
    int resumed = 0;        // how often the program came back to its loop from another one
    std::string state;      // how it stood at the end, as Arm::ended
    std::string engaged;    // setting at the end; empty: none
    double cost_ms = 0;     // what experiments took longer than OFF beside them, per rank; below 0: they gained
    double total_ms = 0;

    friend bool operator==(const PacedClass&, const PacedClass&) = default;
};

struct Pacing {
    bool finished = false;  // the account is of the job's end; false: of some seconds before it was killed
    std::vector<PacedClass> classes;
    int nodes = 0, most_nodes = 0;             // of the step; that took part at one time
    std::uint64_t messages = 0, bytes = 0;     // of the exchange about pacing
    std::uint64_t retransmissions = 0;         // TCP segments sent again

    friend bool operator==(const Pacing&, const Pacing&) = default;
};

// One block of method comparison, for a benchmark's own statistics.
struct PacedBlock {
    std::string label;  // PacedClass::label, or the class's signature
    std::string arm;    // setting; "ours": whatever the law had found
    std::uint32_t round = 0, iterations = 0;
    double mean_ms = 0, log_mean = 0, cv = 0;  // log_mean: of nanoseconds
    bool valid = false;

    friend bool operator==(const PacedBlock&, const PacedBlock&) = default;
};

// What each rank computed in each of the last iterations (compute.h). Empty: it is not known.
struct Compute {
    std::vector<int> ranks;
    std::vector<double> ms;  // by iteration, then rank

    friend bool operator==(const Compute&, const Compute&) = default;
};

struct Report {
    JobInfo job;
    double elapsed_s = 0;     // first MPI_Init returned to last MPI_Finalize (or last record), leader's clock
    bool finished = false;    // every rank of the step reached MPI_Finalize
    PolicyValues policy;
    PlanSummary plan;
    std::vector<RankReport> ranks;  // by rank
    std::vector<Straggler> stragglers;
    std::vector<CommunicatorReport> communicators;  // most time first
    Iterations iterations;
    Compute compute;
    Attribution attribution;
    std::optional<Pacing> pacing;   // nothing: not under pace, or nothing is known of it
    std::vector<Arm> arms;          // by class
    std::vector<PacedBlock> blocks;
    Overhead overhead;
    std::vector<Coverage> coverage;
    double clock_error_ms = 0;  // largest bound between two nodes
    std::vector<std::string> warnings;

    friend bool operator==(const Report&, const Report&) = default;
};

// Numbers are rounded to what they mean: microseconds, and shares to four digits.
std::string to_json(const Report& report);
Result<Report> parse_report(std::string_view json);

}  // namespace paced::report
