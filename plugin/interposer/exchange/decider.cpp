// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/decider.h"

namespace paced::interposer {
namespace {

constexpr std::uint64_t decide_interval_ns = 50'000'000, write_interval_ns = 5'000'000'000;
// After its first part a block waits so long for the members that are missing, then it goes on as it is, and is void. They may be one
// iteration behind, however long that is: the conductor knows better when a block is lost.
constexpr std::uint64_t block_patience_ns = 30'000'000'000;

}  // namespace

void Decider::begin(int folder, std::uint64_t now_ns) {
    record_.begin(folder, now_ns);
    written_ns_ = now_ns;
    depth_ = settings_.nodes < 2 ? 0 : 1;
}

void Decider::decide(std::uint64_t now_ns) {
    const SummaryHead total = junction_.total();
    if (total.nodes > most_nodes_) most_nodes_ = total.nodes;
    if ((total.flags & summary_lost) != 0 && !faulted_) fault("a node was lost, pacing went off", now_ns);
    // before the blocks: what was sent again while they ran is part of them
    conducting_.retransmissions(conducting_.conductor, total.retransmissions);
    conducting_.surroundings(conducting_.conductor, (total.flags & summary_tcp) != 0, (total.flags & summary_pays_for_waiting) != 0);
    for (pacing::Progress progress; junction_.take_progress(progress);) conducting_.progress(conducting_.conductor, progress, now_ns);
    bool news = false;
    for (pacing::BlockSummary block; junction_.take_block(now_ns, true, block_patience_ns, block); news = true) conducting_.block(conducting_.conductor, block);
    if (!news && now_ns < decided_ns_ + decide_interval_ns) return;
    decided_ns_ = now_ns;
    pacing::Directive directives[16];
    for (std::uint32_t count; (count = conducting_.directives(conducting_.conductor, now_ns, directives, 16)) > 0;) {
        for (std::uint32_t i = 0; i < count; ++i) junction_.tell(directives[i]);
        if (count < 16) break;
    }
    pacing::BlockLine lines[16];
    for (std::uint32_t count; (count = conducting_.lines(conducting_.conductor, lines, 16)) > 0;) {
        record_.add_lines(lines, count);
        if (count < 16) break;
    }
    if (now_ns >= written_ns_ + write_interval_ns) write(now_ns, false);
}

void Decider::fault(const char* text, std::uint64_t now_ns) {
    record_.add_fault(text, now_ns);
    if (!faulted_) conducting_.fault(conducting_.conductor);
    faulted_ = true;
}

void Decider::write(std::uint64_t now_ns, bool finished) {
    written_ns_ = now_ns;
    const SummaryHead total = junction_.total();
    segment::PacingHeader head{};
    head.finished = finished ? 1 : 0;
    head.nodes = settings_.nodes;
    head.most_nodes = most_nodes_;
    head.depth = depth_;
    head.communicators = junction_.communicators();
    head.messages = total.messages;
    head.bytes = total.bytes;
    head.retransmissions = total.retransmissions;
    record_.write(head, conducting_, now_ns);
}

void Decider::end(std::uint64_t now_ns) {
    decided_ns_ = 0;
    decide(now_ns);
    conducting_.finish(conducting_.conductor);
    write(now_ns, true);
    record_.end();
}

}  // namespace paced::interposer
