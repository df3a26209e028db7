// SPDX-License-Identifier: BSD-3-Clause
// What the leader leaves in the run folder about pacing: plain data of fixed width, which the interposer writes
// (exchange/pacing_record.h) and the report reads. Little-endian, like everything of ours. A reader checks magic, version and every
// size and count against the file's own length, and takes a file that does not fit for none.
//
//     pacing         PacingHeader | ClassAccount... | PacingFault...
//                    written anew every few seconds under another name and renamed: always whole, also after a kill
//     pacing-blocks  BlocksHeader | pacing::BlockLine...
//                    appended to while the job runs; a last line that is cut off was being written when the step was killed
//
// Both exist under `pace` alone. No `pacing`: no pacing, or a leader that was killed within its first seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "policy/pacing/conductor.h"

namespace paced::segment {

inline constexpr char pacing_file[] = "pacing";
inline constexpr char pacing_blocks_file[] = "pacing-blocks";
inline constexpr std::uint64_t pacing_magic = 0x31434150'44434150;         // "PACDPAC1" in memory
inline constexpr std::uint64_t pacing_blocks_magic = 0x314b4c42'44434150;  // "PACDBLK1"
inline constexpr std::uint32_t pacing_version = 1;

inline constexpr std::uint32_t pacing_fault_limit = 16;         // later ones are counted, not kept
inline constexpr std::uint32_t pacing_line_limit = 65'536;      // blocks that are kept; the first ones

struct PacingHeader {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t header_bytes;   // sizeof(PacingHeader)
    std::uint32_t class_bytes;    // sizeof(pacing::Conductor::ClassAccount)
    std::uint32_t classes;        // that follow
    std::uint32_t fault_bytes;    // sizeof(PacingFault)
    std::uint32_t faults;         // that follow
    std::uint32_t all_faults;     // that there were
    std::uint32_t finished;       // 1: written at the end of the job; 0: the step was killed, or is still running
    std::uint64_t elapsed_ns;     // since the leader began
    std::uint32_t nodes;          // of the step
    std::uint32_t most_nodes;     // that took part at one time, this one included
    std::uint32_t depth;          // of the tree of nodes: 1 is a star; 0: one node
    std::uint32_t communicators;  // that the leader has heard of
    // Of the exchange about pacing (summaries, directives), all nodes together; bytes of frames without TCP's and IP's headers.
    std::uint64_t messages;
    std::uint64_t bytes;
    std::uint64_t retransmissions;  // TCP segments sent again on all nodes since the job began
    std::uint64_t lines;            // blocks, kept or not
};
static_assert(sizeof(PacingHeader) == 96);

// A short text for the report's warnings: printable ASCII, ended by a zero.
struct PacingFault {
    std::uint64_t at_ns;  // since the leader began
    char text[120];
};
static_assert(sizeof(PacingFault) == 128);

struct BlocksHeader {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t line_bytes;  // sizeof(pacing::BlockLine)
};
static_assert(sizeof(BlocksHeader) == 16);

static_assert(std::is_trivially_copyable_v<pacing::Conductor::ClassAccount> && std::is_trivially_copyable_v<pacing::BlockLine>);

}  // namespace paced::segment
