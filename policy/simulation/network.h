// SPDX-License-Identifier: BSD-3-Clause
// The network as a fluid: flows that share links max-min fairly, worked out anew for the connected part that a change touches.
//
// One flow here is a whole transfer of a collective, an aggregate of unit flows which all move at one rate (the ring goes at the pace
// of its slowest edge); on link l its unit flows together take weight(l) times that rate. Fairness is among unit flows:
//
//     rates rise together until a link is full; who crosses it stays there, the others rise on     (progressive filling,
//     Bertsekas, Gallager 1992, "Data networks", 6.5.2)
//
// Links that one communicator alone uses are not in here: they are a limit of the transfer (most_bytes_s). So the cost of a transfer
// is that of the links it shares, and of those that share them.
//
// Overload (scenario.h) is looked at whenever a transfer begins.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "policy/simulation/draws.h"
#include "policy/simulation/queue.h"
#include "policy/simulation/scenario.h"

namespace paced::simulation {

struct Link {
    double bytes_s = 0;               // > 0
    double holds_bytes = 0;           // bandwidth-delay product and buffer of the port before it; infinite: it never overflows
    std::int32_t out_of = -1, into = -1;  // switches; -1: a node
    enum class Way : std::uint8_t { to_node, up, down } way = Way::to_node;  // of what leaves by the port before it
};

struct Use {
    std::uint32_t link = 0;
    float flows = 0;                  // that cross it
    double weight = 0;                // of the transfer's unit rate that they take together
};

// Ports that nobody else uses and that are alike.
struct Port {
    double flows = 0, holds_bytes = 0;
    std::uint32_t count = 0;
    Link::Way way = Link::Way::to_node;
};

struct Transfer {
    double bytes = 0;                 // of a unit
    double most_bytes_s = std::numeric_limits<double>::infinity();  // of a unit, by what nobody else uses
    double window_bytes = 0;          // that one flow has under way
    double flows_per_unit = 1;        // sockets that a unit of rate goes over
    bool apart = false;               // its flows do not wait for one another: one that stands still does not stop the others
    std::vector<Use> uses;            // links that others use too
    std::vector<Port> ports;
};

class Network {
public:
    using Id = std::uint32_t;
    struct Start {
        const Transfer* transfer = nullptr;  // outlives the flow
        std::uint32_t owner = 0;             // what ended() answers
        double met = 1;                      // part of its flows that begin together
        double limit_bytes_s = std::numeric_limits<double>::infinity();  // of one flow: paced by its sender, who then sends no burst
        bool calm = false;                   // it overloads nothing
        double part = 1;                     // of the job, that stands still with it
    };

    // Pushes flow_end, flow_stall and flow_wake into the queue.
    Network(std::vector<Link> links, std::uint32_t switches, Transport transport, const Overload& overload, std::uint64_t seed, Queue& queue);

    Id begin(const Start& start, double now);
    // Of an event flow_end: true where it is still meant; the flow is then over. `owner`: whose it was; `until`: when the last of its flows
    // that stood still has ended too, 0 if there is none.
    bool ended(const Event& event, std::uint32_t& owner, double& until);
    bool ended(const Event& event, std::uint32_t& owner) {
        double until = 0;
        return ended(event, owner, until);
    }
    void stalled(const Event& event);
    void woken(const Event& event);
    // Taken off before its end: bytes of a unit that it has moved.
    double withdraw(Id id, double now);
    // Would it overload a port where others of the job are now?
    bool would_meet(const Start& start) const;

    double rate(Id id) const { return flows_[id].rate; }
    const std::vector<Link>& links() const { return links_; }
    std::uint64_t changes() const { return changes_; }      // of a flow's rate, beginnings and ends included
    std::uint64_t timeouts() const { return timeouts_; }
    double stalled_s() const { return stalled_s_; }         // sum over time-outs, of the mean rank
    double retransmitted_bytes() const { return retransmitted_; }

private:
    struct Flow {
        Start start;
        double left = 0, rate = 0, most = 0, since = 0, moved = 0;
        double window = 0;             // under way of one of its flows, `met` counted in
        double still_until = 0;
        double not_before = 0;         // apart: when the last of its flows that stood still goes on
        std::uint64_t version = 0;     // of its rate
        std::uint64_t generation = 0;  // of flows in this place
        std::uint32_t stamp = 0;
        bool active = false, scheduled = false;
    };
    struct State {                     // of a link
        double under_way = 0;
        std::vector<Id> flows;
        std::uint32_t stamp = 0, open = 0;
        double rest = 0, weight = 0;
    };

    double capacity(std::uint32_t link) const;
    double window_of(const Start& start) const;
    void pace(Id id);
    void join(Id id);
    void leave(Id id);
    void look_for_overload(Id id, double now);
    void look_for_pauses(Id id);
    void neighbours(Id id);
    void settle(Flow& flow, double now);
    bool is_alone(Id id) const;
    void set_rate(Id id, double rate, double now);
    void share_out(double now);

    std::vector<Link> links_;
    std::vector<State> states_;
    std::vector<Flow> flows_;
    std::vector<Id> free_;
    std::vector<double> paused_;                        // of each switch: part of their rate that its senders lose
    std::vector<std::vector<std::uint32_t>> out_of_, into_;  // links of each switch
    Transport transport_;
    Overload overload_;
    Draws draws_;
    Queue& queue_;
    std::uint32_t stamp_ = 0;
    std::vector<Id> seeds_, part_, open_, frozen_;
    std::vector<std::uint32_t> touched_;
    std::uint64_t changes_ = 0, timeouts_ = 0;
    double stalled_s_ = 0, retransmitted_ = 0;
};

}  // namespace paced::simulation
