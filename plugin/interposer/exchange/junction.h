// SPDX-License-Identifier: BSD-3-Clause
// Where what several nodes say of the job's communicators comes together, at every node of the tree: summaries of the nodes below
// and of this one are joined for the way up, and directives from above are handed to those below whose ranks they are about.
// No socket, no clock: the time is given. Fixed memory, one thread.
//
// Below are up to 63 children, numbered from 1; 0 is this node itself. What children say is checked: a count, an epoch or a size that
// cannot be is answered with false, and the caller drops that child.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugin/interposer/exchange/wire.h"
#include "policy/pacing/directive.h"

namespace paced::interposer {

class Junction {
public:
    static constexpr std::uint32_t child_limit = 64;
    static constexpr std::uint32_t own = 0;
    static constexpr std::uint32_t entry_limit = 512;  // communicators; those beyond are left alone

    // memory: size() bytes of zeros, of which only as much is touched as there are communicators.
    static std::size_t size();
    explicit Junction(void* memory) : entries_(static_cast<Entry*>(memory)) {}

    // A summary as it came; false: it makes no sense.
    bool hear(std::uint32_t child, const std::uint8_t* payload, std::size_t size, std::uint64_t now_ns);
    bool hear(std::uint32_t child, const SummaryHead& head, const pacing::Progress* progresses, const pacing::BlockSummary* blocks, std::uint64_t now_ns);
    // A child is gone: as it said it would, or not.
    void leave(std::uint32_t child, bool lost);

    // From above, or from the conductor; false: it makes no sense. Of a communicator that nobody here has: ignored.
    bool tell(const pacing::Directive& directive);
    // All directives that a child does not have yet, as a message; 0: there are none. limit: bytes of payload, at least 1024.
    std::size_t compose_directives(std::uint32_t child, std::uint8_t* payload, std::size_t limit);
    // The next one that has not been taken for this node's own ranks; nullptr: none.
    const pacing::Directive* take_own();

    // Whether there is something to say that should not wait: a block that is complete, or old enough to go without the rest.
    bool has_block(std::uint64_t now_ns) const;
    // Whether any progress has changed since it was last said.
    bool has_progress() const;
    // What is new, as a message: blocks first, then progress in turns where it does not all fit.
    std::size_t compose_summary(std::uint8_t* payload, std::size_t limit, std::uint64_t now_ns, std::uint32_t more_flags);

    // At the leader instead of composing. whole: complete means all members of the communicator, not all that are known below.
    // patience_ns: how long after its first part a block is handed out without the rest.
    bool take_block(std::uint64_t now_ns, bool whole, std::uint64_t patience_ns, pacing::BlockSummary& block);
    bool take_progress(pacing::Progress& progress);

    // Over this node and all below.
    SummaryHead total() const;
    // What this node itself has sent, for total().
    void count_message(std::size_t bytes) { ++messages_, bytes_ += bytes; }
    std::uint32_t communicators() const { return used_; }
    bool is_ending(std::uint32_t child) const { return (heads_[child].flags & summary_ending) != 0; }

    static constexpr std::uint64_t patience_ns = 100'000'000;

private:
    struct Part {
        pacing::BlockSummary block;  // epoch 0: none
        std::uint64_t since_ns;
    };
    struct Entry {
        std::uint64_t id;
        pacing::Directive latest;
        std::uint32_t told[child_limit];          // epoch
        pacing::Progress of[child_limit];         // members 0: none
        pacing::Progress joined, said;
        Part parts[2];                            // by epoch % 2: a member is never two blocks ahead of another
    };
    static constexpr std::uint32_t place_limit = 2 * entry_limit;

    Entry* find(std::uint64_t id, bool make);
    void join_again(Entry& entry);
    bool is_due(const Entry& entry, const Part& part, std::uint64_t now_ns, bool whole, std::uint64_t patience) const;
    bool hear_block(std::uint32_t child, const pacing::BlockSummary& block, std::uint64_t now_ns);
    bool hear_progress(std::uint32_t child, const pacing::Progress& progress);

    SummaryHead heads_[child_limit] = {};
    std::uint64_t messages_ = 0, bytes_ = 0;
    std::uint32_t most_child_ = 0, lost_ = 0;
    std::uint32_t used_ = 0, turn_ = 0;
    std::uint16_t order_[entry_limit] = {};  // places of the entries, in the order in which they came
    Entry* const entries_;                   // a hash table by id
};

}  // namespace paced::interposer
