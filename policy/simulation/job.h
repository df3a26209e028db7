// SPDX-License-Identifier: BSD-3-Clause
// One synchronous job on the virtual clock. Every rank runs the same program in each iteration: it computes, and at certain parts of its
// compute it calls a collective, waiting for it (blocking) or going on meanwhile (overlapped; the calls of a rank still follow one
// another, as on one stream).
//
// A call begins when its last member has entered and ends on all members at once. So no event is queued for a rank: when a call
// ends the next arrival of each member is known, and the last of them makes the next event. Cost: O(members) a call, and what the
// network takes.
//
//     arrival = max(begin of the iteration + stalls + part * compute, end of the rank's call before)
#pragma once

#include <cstdint>
#include <vector>

#include "policy/simulation/communicator.h"
#include "policy/simulation/compute_times.h"
#include "policy/simulation/pacer.h"
#include "policy/simulation/network.h"
#include "policy/simulation/plan.h"
#include "policy/simulation/queue.h"
#include "policy/simulation/result.h"
#include "policy/simulation/simulate.h"
#include "policy/simulation/wiring.h"

namespace paced::simulation {

class Job {
public:
    Job(const Scenario& scenario, const Run& run);
    Outcome simulate(const Told& told);

private:
    // The groups of one axis.
    struct Kind {
        std::uint32_t stride = 1, size = 1;
        std::uint32_t first = 0;           // communicator
        std::vector<std::uint32_t> calls;  // of an iteration: indices into the program
        double bytes = 0;                  // of an iteration and rank
        bool paces = false;                // there is something among them that ends on all members together
        std::uint32_t group_of(std::uint32_t rank) const { return rank / (stride * size) * stride + rank % stride; }
    };
    struct ProgramCall {
        std::uint32_t traffic = 0, kind = 0;
        std::uint32_t slot = 0;            // of its traffic among the kind's: which plan
        double part = 1;                   // of the iteration's compute
        bool blocking = true;
        bool shows = true;                 // what compute does not hide of it is idle time; else the blocking call after it waits for it
        Pacer::Call call;
    };
    struct RankState {
        double origin = 0;                 // when its compute would have begun, had nothing stalled or slowed it
        double length = 0;                 // compute of this iteration without that
    };
    struct Burst {
        Transfer transfer;
        Network::Id flow = 0;
        bool on = false;
        double moved_bytes = 0;            // on each of its links
        Draws draws{0};
    };

    void make_program();
    void make_communicators();
    void make_plans();
    void make_background();
    void find_components();
    double expected_s() const;
    std::uint32_t steps_crossing() const;
    Plan& plan_of(const Communicator& communicator);
    const ProgramCall& call_of(const Communicator& communicator) const { return program_[kinds_[communicator.kind].calls[communicator.sequence % kinds_[communicator.kind].calls.size()]]; }

    void start();
    void arrive(std::uint32_t communicator, std::uint32_t rank, double at);
    void all_arrived(std::uint32_t communicator);
    void steal_from_last(Communicator& communicator);
    void enter(std::uint32_t communicator, double at);
    double met_part(const Communicator& communicator, double width) const;
    void start_phase(std::uint32_t communicator, double at);
    void put_on_network(std::uint32_t communicator, double now);
    void transfer_over(std::uint32_t communicator, double now);
    void phase_over(std::uint32_t communicator, double now);
    void complete(std::uint32_t communicator, double end);
    void toggle(std::uint32_t burst, double now);
    void record(const Communicator& communicator, const ProgramCall& call, double end, std::uint32_t iteration);
    void handle(const Event& event);
    void finish(Outcome& outcome, double now);
    std::vector<LevelLoad> loads(double seconds) const;
    Timeline timeline(const Outcome& outcome) const;

    const Scenario& scenario_;
    Run run_;
    std::uint32_t ranks_;                  // of the job
    std::uint32_t total_;                  // iterations, warm-up included
    std::vector<std::string> reasons_;
    Wiring wiring_;
    std::vector<std::uint32_t> order_;     // the slot of each position
    Planner planner_;
    ComputeTimes compute_;
    Queue queue_;
    Network network_;
    std::vector<Kind> kinds_;
    std::vector<ProgramCall> program_;
    std::vector<Plan> plans_;
    std::vector<std::uint32_t> plan_index_;
    std::vector<Communicator> communicators_;
    std::vector<RankState> state_;
    Entries entries_;
    Pacer pacer_;
    Draws fabric_draws_;
    std::vector<Burst> bursts_;
    std::vector<std::uint32_t> kept_back_;  // oracle: transfers that wait for others to end

    std::uint32_t components_ = 1;
    std::vector<double> component_share_;  // part of the ranks
    std::vector<double> ends_;             // component * total + iteration
    std::uint32_t done_ = 0;               // ranks that have all iterations behind them
    std::uint32_t ahead_ = 0;              // iterations that the quickest has behind it
    std::uint64_t events_ = 0, fabric_events_ = 0;
    double fabric_stall_s_ = 0;
    Shares sums_;                          // over ranks and measured iterations

    struct Recorded {
        std::uint32_t iteration = 0;
        double begin = 0;
        std::vector<std::vector<Span>> spans;  // by recorded rank
    };
    std::vector<std::uint32_t> recorded_ranks_;
    std::vector<double> cursor_;           // by recorded rank: its last span's end
    std::vector<Recorded> recorded_;
};

}  // namespace paced::simulation
