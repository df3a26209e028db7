// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of this node show in the shared segment, as the node's own summary: progress of each communicator, blocks that have
// been finished since the last look, and facts about the node. Reads alone. A slot is mapped once its rank has allocated it
// and said so: touching a hole of a full /dev/shm would be SIGBUS, and it would be the host's.
#pragma once

#include "plugin/interposer/exchange/wire.h"
#include "policy/io/segment.h"

namespace paced::interposer {

class Gatherer {
public:
    // segment: the open file; header: the same one's, mapped. leaf: hash of the node's leaf, 0: not known.
    Gatherer(int segment, const segment::Header& header, std::uint64_t leaf) : file_(segment), header_(&header), leaf_(leaf) {}

    void look(std::uint64_t now_ns);

    // As of the last look.
    const SummaryHead& head() const { return head_; }
    const pacing::Progress* progresses() const { return progresses_; }
    const pacing::BlockSummary* blocks() const { return blocks_; }

private:
    struct Seen {
        enum class State : std::uint8_t { unknown, mapped, ignored };
        State state;
        const segment::Slot* slot;
        std::uint32_t handled[segment::communicator_limit];  // epoch of the last block that was taken
        std::uint16_t place[segment::communicator_limit];    // in progresses_, + 1
    };

    bool map(std::uint32_t index);
    void read_rank(Seen& seen);
    void read_progress(Seen& seen, std::uint32_t i, const segment::Communicator& communicator, const pacing::PacedRank& paced);
    void read_blocks(Seen& seen, std::uint32_t i, const segment::Communicator& communicator, const pacing::PacedRank& paced);
    std::uint16_t place_of(std::uint64_t id);

    const int file_;
    const segment::Header* const header_;
    const std::uint64_t leaf_;
    int snmp_ = -1;
    bool snmp_tried_ = false;
    std::uint64_t snmp_ns_ = 0, first_retransmissions_ = 0;
    std::uint32_t ranks_ = 0, cpu_count_ = 0;
    std::uint64_t cpus_[16] = {};
    SummaryHead head_{};
    std::uint32_t known_ = 0;  // communicators
    pacing::Progress progresses_[pacing::paced_limit] = {};
    pacing::BlockSummary blocks_[pacing::paced_limit];
    Seen seen_[segment::slot_limit] = {};
};

// RetransSegs out of the text of /proc/net/snmp; false: not in there.
bool find_retransmissions(const char* text, std::uint64_t& segments);

}  // namespace paced::interposer
