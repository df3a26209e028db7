// SPDX-License-Identifier: BSD-3-Clause
// What comes out of a simulation, as plain data. Times: seconds.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "policy/pacing/account.h"
#include "policy/pacing/observation.h"

namespace paced::simulation {

// What one job ran under. baseline to paced are ours; the rest is there to be compared with, in the submitted order.
enum class Case {
    baseline,  // as submitted, nothing done
    ordered,   // ranks in the order that placement chose, tasks bound
    paced,     // ordered, and under the pacing law
    alone,     // pacing in the submitted order
    recipe,    // the paper's: a fixed small delay for who was early
    barrier,   // a barrier before every call
    oracle,    // knows all arrivals: ranks enter with the last one, and who would overload a port takes turns, without a message
};
inline constexpr std::size_t case_count = 7;
constexpr const char* name_of(Case one) {
    constexpr const char* names[case_count] = {"baseline", "ordered", "paced", "alone", "recipe", "barrier", "oracle"};
    return names[static_cast<std::size_t>(one)];
}

// A mean over seeds with a 95 % interval (Student); with one seed low = high = value.
struct Estimate {
    double value = 0, low = 0, high = 0;
};

struct LevelLoad {
    std::string level;         // "nic", then the fabric's levels
    std::uint32_t links = 0;   // that carried anything, each direction one
    double mean = 0, most = 0; // part of the links' rate that was used over the whole run; mean over those links
};

// Where the time of a mean iteration went: of the mean rank, seconds.
struct Shares {
    double compute = 0;        // what the rank computed, theft included
    double waiting = 0;        // in collectives, for the last to come, as far as no compute went on
    double transfer = 0;       // after that
    double stalls = 0;         // part of transfer: time-outs, fabric events
    double stolen = 0;         // part of compute: overlap theft
    double held = 0;           // part of waiting: our delays
};

// One rank in one iteration.
struct Span {
    enum class Kind : std::uint8_t { compute, held, waiting, transfer };
    Kind kind = Kind::compute;
    std::uint32_t traffic = 0;  // index into Work::traffic; not for compute
    float begin_s = 0, end_s = 0;  // since the iteration began on the first rank
};
struct RankLine {
    std::uint32_t rank = 0, node = 0;
    std::vector<Span> spans;   // by begin; under overlap compute and calls lie over one another
};
struct Timeline {
    std::uint32_t iteration = 0;
    double length_s = 0;
    std::vector<RankLine> ranks;  // at most timeline_ranks, evenly spread
};
inline constexpr std::uint32_t timeline_ranks = 64;

// What the law made of one class of communicators.
struct ClassResult {
    std::uint64_t bytes = 0;
    pacing::Facts facts;
    pacing::Account account;
};

// One run: a case, a size, a seed.
struct Outcome {
    Case ran = Case::baseline;
    std::uint32_t nodes = 0;
    std::uint64_t seed = 0;
    double seconds = 0;             // virtual, of the measured iterations
    double throughput = 0;          // samples a second
    // Each measured iteration: from one end of the last rank to the next; where parts of the job do not wait for one another, those of the first
    // part, then those of the second, ...
    std::vector<float> iteration_s;
    std::uint32_t parts = 1;
    std::uint64_t events = 0;       // arrivals, completions, flow changes, messages
    std::uint64_t stalls = 0;       // time-outs and fabric events
    Shares shares;
    std::vector<LevelLoad> load;
    Timeline timeline;              // of the first seed alone; of the first 200 measured iterations the one whose length is nearest to the 90th percentile
    std::vector<ClassResult> classes;
    std::uint64_t messages = 0;     // of the control channel
    double steps_crossing = 0;      // steps of the ring of nodes that leave a leaf
    std::vector<std::string> reasons;  // of the rank order
};

// A case at one size, over all seeds.
struct CaseResult {
    Case ran = Case::baseline;
    Estimate throughput;            // samples a second
    Estimate mean_s, cv, p50_s, p99_s;  // of iterations; each run's figure, then mean and interval over runs
    Estimate gain_percent;          // throughput over the baseline's of the same seed, less one; with one seed from batches of iterations
    std::uint64_t stalls = 0;       // in all runs
    double steps_crossing = 0;      // steps of the node ring that leave a leaf
    Shares shares;                  // mean over runs
    std::vector<LevelLoad> load;    // mean over runs; most: the largest
    Timeline timeline;
    std::vector<ClassResult> classes;  // of the first seed
};

struct Row {
    std::uint32_t nodes = 0, ranks = 0;
    std::vector<CaseResult> cases;  // in the order of Case; baseline, ordered and paced always, the others where asked for
    std::uint64_t events = 0;       // of all runs
    std::vector<std::string> reasons;  // of the rank order
};

struct Result {
    std::string scenario;
    std::uint32_t seeds = 0, iterations = 0;
    std::vector<Row> rows;
};

}  // namespace paced::simulation
