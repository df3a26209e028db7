// SPDX-License-Identifier: BSD-3-Clause
// Stands for a node's agent and its leader: writes directives into the segment of a job that runs, as the exchange would, but as it
// is told to or at random. A thread of the test.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "policy/io/segment.h"

namespace paced::test {

class FakeAgent {
public:
    // What to do with a communicator, asked every millisecond or so: its calls so far, and the epoch of the last directive. epoch and
    // communicator of what is returned are filled in; false: nothing new.
    using Decide = std::function<bool(const pacing::PacedCommunicator& entry, std::uint64_t calls, pacing::Directive& directive)>;

    // folder: of the node; the segment may not be there yet.
    FakeAgent(std::string folder, Decide decide);
    ~FakeAgent() { stop(); }
    FakeAgent(const FakeAgent&) = delete;
    FakeAgent& operator=(const FakeAgent&) = delete;
    void stop();

    // Directives written, and what the ranks have shown of them, summed over all blocks that were seen.
    std::uint64_t directives() const { return directives_; }
    std::uint64_t blocks() const { return blocks_; }
    std::uint64_t held() const { return held_; }
    std::uint64_t late() const { return late_; }
    std::uint64_t timeouts() const { return timeouts_; }

private:
    void run();
    void look(const segment::Header& header, const char* slots);

    std::string folder_;
    Decide decide_;
    std::atomic<bool> stopping_{false};
    std::uint64_t directives_ = 0, blocks_ = 0, held_ = 0, late_ = 0, timeouts_ = 0;
    std::uint32_t seen_[segment::slot_limit][segment::communicator_limit] = {};
    std::thread thread_;
};

}  // namespace paced::test
