// SPDX-License-Identifier: BSD-3-Clause
// Every constant of the law, with its unit, its limits and why it is what it is. A site sets them in [pacing] of its
// policy; they travel as "name=value name=value" (PACED_FABRIC_STEP_PACING) to the node that decides.
#pragma once

#include <cstddef>
#include <cstdint>

namespace paced::pacing {

// Which law decides. All but `ours` are there to be compared with.
enum class Method : std::uint8_t {
    ours,
    fixed,       // one setting from the start, never measured against off
    comparison,  // blocks of several settings in random order, for ever: what a benchmark needs
};

//      name, default, least, most, unit, why
#define PACED_PACING_CONSTANTS(X)                                                                                                     \
    X(block_iterations, 8, 2, 1024, "iterations", "short enough for 30 pairs in 500 iterations, long enough that switching (washout) stays a small part") \
    X(block_ms, 100, 1, 60000, "ms", "a block also lasts this long: decisions travel once in 100 ms")                                  \
    X(washout_iterations, 1, 0, 64, "iterations", "what is still under way when a setting changes belongs to the old one")             \
    X(rate_washout_iterations, 4, 0, 64, "iterations", "TCP forgets a pacing rate only with its congestion window")                    \
    X(error_percent, 5, 0.1, 20, "%", "chance per job that an arm without effect is ever engaged, over all arms and classes")          \
    X(disengage_percent, 0.25, 0, 10, "%", "an arm whose gain is surely below this is not worth a delay")                              \
    X(least_pairs, 4, 2, 64, "pairs", "no verdict on less, whatever the sequence says")                                               \
    X(most_pairs, 60, 4, 1000, "pairs", "a probe without a verdict by then ends; what is left to find is small")                       \
    X(holdout_percent, 10, 1, 50, "%", "OFF blocks after engagement, from which the claimed gain comes; falls to holdout_floor_percent") \
    X(holdout_floor_percent, 3, 0.5, 50, "%", "enough to notice that the gain is gone")                                               \
    X(first_backoff_blocks, 8, 1, 4096, "blocks", "quiet after a failed probe, doubled each time")                                     \
    X(longest_backoff_blocks, 1024, 1, 65536, "blocks", "a probe block in a thousand costs nothing that can be seen")                  \
    X(hold_percent, 2, 0, 10, "% of an iteration", "all remote holds of an iteration together")                                        \
    X(straggler_share, 0.8, 0.5, 1, "of blocks", "a member last in more than these is persistent: named, not paced")                   \
    X(straggler_percent, 5, 0, 100, "% of an iteration", "and costs more than this")                                                  \
    X(exploration_percent, 1.3, 0, 10, "% of the job", "the cost of probes; beyond it probing ends")

struct Tuning {
    Method method = Method::ours;
#define PACED_PACING_FIELD(name, value, least, most, unit, why) double name = value;
    PACED_PACING_CONSTANTS(PACED_PACING_FIELD)
#undef PACED_PACING_FIELD
};

}  // namespace paced::pacing
