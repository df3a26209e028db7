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

// An experiment of the pacing law; none yet.
struct Arm {
    std::string label, arm;
    int blocks = 0;
    double gain_percent = 0, gain_low = 0, gain_high = 0;
    std::string ended;

    friend bool operator==(const Arm&, const Arm&) = default;
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
    Attribution attribution;
    std::vector<Arm> arms;
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
