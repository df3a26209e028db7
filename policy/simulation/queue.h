// SPDX-License-Identifier: BSD-3-Clause
// The virtual clock's events, by time; of equal times the first pushed comes first, so that the order is the same in every run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace paced::simulation {

struct Event {
    enum class Kind : std::uint32_t {
        transfer,    // a communicator's phase puts its transfer on the network
        paused,      // a phase without a transfer is over
        flow_end,    // subject: flow, detail: version
        flow_stall,  // a flow loses what it had under way; detail: generation
        flow_wake,   // a flow that stood still goes on; detail: version
        background,  // somebody else's burst begins or ends
        look,        // the leader looks at what has come in
        message,     // a message of the control channel arrives
        deadline,    // a delay's own end; detail: the call's sequence number
    };
    double at = 0;            // seconds
    std::uint64_t order = 0;
    Kind kind = Kind::transfer;
    std::uint32_t subject = 0;
    std::uint64_t detail = 0;
};

class Queue {
public:
    void push(double at, Event::Kind kind, std::uint32_t subject, std::uint64_t detail = 0) {
        heap_.push_back({at, order_++, kind, subject, detail});
        std::push_heap(heap_.begin(), heap_.end(), is_later);
    }
    bool empty() const { return heap_.empty(); }
    Event pop() {
        std::pop_heap(heap_.begin(), heap_.end(), is_later);
        const Event first = heap_.back();
        heap_.pop_back();
        return first;
    }

private:
    static bool is_later(const Event& a, const Event& b) { return a.at > b.at || (a.at == b.at && a.order > b.order); }

    std::vector<Event> heap_;
    std::uint64_t order_ = 0;
};

}  // namespace paced::simulation
