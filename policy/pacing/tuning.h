// SPDX-License-Identifier: BSD-3-Clause
// Every constant of the law, with its unit, its limits and why it is what it is. A site sets them in [pacing] of its
// policy; they travel as "name=value name=value" (PACED_FABRIC_STEP_PACING) to the node that decides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "policy/pacing/setting.h"

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
    X(most_pairs, 60, 4, 250, "pairs", "a probe without a verdict by then ends; what is left to find is small")                       \
    X(holdout_percent, 10, 1, 50, "%", "OFF blocks after engagement, from which the claimed gain comes; falls to holdout_floor_percent") \
    X(holdout_floor_percent, 3, 0.5, 50, "%", "enough to notice that the gain is gone")                                               \
    X(first_backoff_blocks, 8, 1, 4096, "blocks", "quiet after a failed probe, doubled each time")                                     \
    X(longest_backoff_blocks, 1024, 1, 65536, "blocks", "a probe block in a thousand costs nothing that can be seen")                  \
    X(hold_percent, 2, 0, 10, "% of an iteration", "all remote holds of an iteration together")                                        \
    X(straggler_share, 0.8, 0.5, 1, "of blocks", "a member last in more than these is persistent: named, not paced")                   \
    X(straggler_percent, 5, 0, 100, "% of an iteration", "and costs more than this")                                                  \
    X(exploration_percent, 0.2, 0, 10, "% of the job", "the cost of probes, as far as it is more than noise; beyond it nothing is probed")    \
    X(allowance_blocks, 0.4, 0, 100, "blocks", "and so much may be lost in advance, or nothing could ever begin: 0.2 % of 2,000 iterations") \
    X(baseline_blocks, 4, 1, 1024, "blocks", "OFF before anything is probed: in 32 iterations a cliff shows its time-outs")               \
    X(first_pair_iterations, 3, 1, 1024, "iterations", "of the blocks of a setting's first pair: a bad one shows in a third of a block")     \
    X(severe_percent, 10, 0.1, 1000, "%", "one probe block so much longer than OFF, and beyond noise, ends its setting")                \
    X(severe_deviations, 4, 1, 100, "deviations", "and beyond noise means: of an OFF block, and more than any of the last 32")           \
    X(futile_pairs, 6, 2, 1000, "pairs", "a setting that is not ahead after so many is left for this time")                            \
    X(inflation, 3, 1, 1000, "times", "a call so much longer than the usual one is contention")                                        \
    X(recheck_blocks, 256, 8, 65536, "blocks", "a steady loss shows no signature: one probe after so many OFF blocks that show nothing") \
    X(calm_percent, 30, 0, 1000, "% of OFF's CV", "an engaged setting whose iterations scatter more still meets time-outs: a gentler one is tried") \
    X(refine_blocks, 8, 4, 65536, "blocks", "engaged, before a setting beside it is tried; doubled each time it is not better")  \
    X(timeouts_percent, 25, 0, 100, "% of delays", "more delays than these ended by their deadline alone: permits do not arrive")       \
    X(local_hold_ms, 10, 0, 1000, "ms", "a local hold under window auto: this or one iteration, whichever is longer")                  \
    X(most_invalid, 16, 1, 1024, "blocks", "void in a row: something is broken, off for good")                                        \
    X(learn_iterations, 500, 1, 1000000, "iterations", "method comparison: how long `ours` may look for its setting; with one, twice as long for a better one")

// Method comparison: what takes part. `ours`: whatever the law has found.
struct Compared {
    Setting setting;
    bool ours = false;
};
inline constexpr std::uint32_t compared_limit = 12;

struct Tuning {
    Method method = Method::ours;
#define PACED_PACING_FIELD(name, value, least, most, unit, why) double name = value;
    PACED_PACING_CONSTANTS(PACED_PACING_FIELD)
#undef PACED_PACING_FIELD
    std::uint32_t without = 0;              // bit a: arm a is never tried
    Setting fixed;                          // method fixed; a cap of 0 is filled in by the law
    Compared compared[compared_limit];      // method comparison
    std::uint32_t compared_count = 0;
};

// "ours", "fixed", "comparison"
const char* name_of(Method method);

// Where a string stops making sense.
struct WrongToken {
    std::size_t at = 0, length = 0;         // bytes of the token within the string
    const char* why = "";                   // static
};

// The one grammar, tokens "name=value" separated by spaces:
//     NAME=NUMBER              a constant above, within its limits
//     method=ours|fixed|comparison
//     without=NAME,NAME,...    arms that are never tried
//     arm=ARM                  method fixed; or arm=NAME with width=W rate=RATE delay=TIME threshold=TIME cap=TIME
//     arms=ARM,ARM,...         method comparison; at most compared_limit
//     ARM: off | hold-local | hold-remote[:DELAY] | admit:WIDTH | rate:RATE | slots:DELAY | phase:DELAY | fixed-delay:DELAY:THRESHOLD | barrier, in arms= also ours
//     TIME: NUMBER with ns, us, ms or s       RATE: NUMBER with bit, kbit, mbit or gbit (a second)
// text need not end in a zero. Without allocation. False: `wrong` names the token, `tuning` is as it was.
bool parse_tuning(const char* text, std::size_t length, Tuning& tuning, WrongToken& wrong);

}  // namespace paced::pacing
