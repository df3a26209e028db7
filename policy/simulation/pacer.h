// SPDX-License-Identifier: BSD-3-Clause
// Pacing in the simulated job: the very Conductor, Law, Permits and PeriodFinder of the interposer, on a modelled channel.
//
//     blocks, progress  ->  leader (Conductor, every interval_s)  ->  directives        one way each: latency, jitter of the slowest node, loss
//     request           ->  leader (Permits)                      ->  grant             datagrams, sent again after 10, 30, 70 ms
//
// What the gate and the meter of the interposer do for one rank (plugin/interposer/pacing) is done here for all members at once.
// Two things are simpler: a node that learns of a directive late makes the block void as there, but changes its setting with the
// others; and a permit is asked for once all members have arrived, in one message, since it is not granted before.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "policy/pacing/conductor.h"
#include "policy/pacing/period.h"
#include "policy/pacing/permits.h"
#include "policy/simulation/communicator.h"
#include "policy/simulation/draws.h"
#include "policy/simulation/queue.h"
#include "policy/simulation/result.h"
#include "policy/simulation/scenario.h"

namespace paced::simulation {

class Pacer {
public:
    // One call, as all members make it.
    struct Call {
        Operation operation = Operation::allreduce;
        std::uint64_t bytes = 0;
    };
    struct Passage {
        double last = 0;     // when the last member is let in
        bool asks = false;   // not known yet: a message says so, or a deadline
    };

    Pacer(const Scenario& scenario, Case ran, std::uint64_t seed, std::vector<Communicator>& communicators, Entries& entries, Queue& queue);

    // Which communicators are paced: the first of these, as many as the conductor takes. kinds: communicators that a rank has.
    // mean_iteration_s: expected, for the recipe's parts.
    void conduct(const std::vector<std::uint32_t>& wanted, std::uint32_t kinds, double mean_iteration_s);

    // All members have arrived.
    Passage pass(std::uint32_t communicator);
    // A waiting one may go: fills in its entries. Only where `waits`.
    double let_in(std::uint32_t communicator, double now);
    // The call has ended; before anything of the next one is written.
    void completed(std::uint32_t communicator, const Call& call, double end);

    // Of an event `look`. retransmitted_bytes: so far.
    void look(double now, double retransmitted_bytes);
    // Of an event `message`: the communicator that may go now, or -1.
    std::int64_t message(const Event& event);

    std::vector<ClassResult> finish();
    std::uint64_t messages() const { return messages_; }

private:
    struct Paced {
        std::uint32_t communicator = 0;
        std::uint64_t id = 0;
        pacing::Directive current, pending;
        bool has_pending = false, phase_due = false;
        bool partly_lost = false;      // a node did not get `pending`
        double known_at = 0;           // when the slowest node has it
        pacing::PeriodFinder period;
        std::uint64_t called = 0;      // its first member's running sum of calls, where ranks have this one alone
        std::uint64_t said_calls = 0, said_signature = 0;
        // the meter
        bool open = false;
        std::uint64_t first = 0, end = 0;
        double boundary = Communicator::none;
        std::uint32_t steps = 0;
        std::vector<pacing::RankBlock> blocks;    // by member
        std::vector<float> shortest_wait_s;       // in the last good block, by member; < 0: not known
        std::vector<float> last_wait_s;           // fixed_delay alone
        double last_service_s = 0;
        // permits
        std::uint32_t timeouts = 0;    // in a row
        bool given_up = false;
        bool asked = false;            // for the running call
    };
    struct Message {
        enum class Kind { directive, block, request, done, grant, tick } kind = Kind::tick;
        std::uint32_t paced = 0;
        std::uint64_t sequence = 0;
        pacing::Directive directive;
        pacing::BlockSummary block;
    };

    bool is_law() const { return conductor_ != nullptr; }
    double hops(const Communicator& communicator) const;
    double one_way();
    double to_slowest(const Communicator& communicator);
    bool is_partly_lost(const Communicator& communicator);
    bool send_datagram(double now, const Message& message);
    void send(double at, const Message& message);
    void start_block(Paced& paced, const Communicator& communicator);
    void finish_block(Paced& paced, const Communicator& communicator, double now);
    static void follow(Paced& paced);
    void show(const Communicator& communicator, const pacing::BlockSummary& block, double now);
    void meter(Paced& paced, const Communicator& communicator, double end);
    template <class Delay> double hold(Communicator& communicator, double cap, Delay delay);
    double hold_local(Communicator& communicator, double cap);
    double hold_all_until(Communicator& communicator, double until, double cap);
    void serve_permits(double now);

    const Scenario& scenario_;
    Case ran_;
    std::vector<Communicator>& communicators_;
    Entries& entries_;
    Queue& queue_;
    Draws draws_;
    std::unique_ptr<pacing::Conductor> conductor_;
    std::unique_ptr<pacing::Permits> permits_;
    std::vector<Paced> paced_;
    std::vector<std::uint64_t> called_;   // by rank, where ranks have several communicators
    std::vector<Message> slots_;
    std::vector<std::uint32_t> free_;
    std::vector<pacing::Directive> directives_;
    pacing::Setting constant_;            // of the cases that only do one thing
    double window_s_ = 1;
    bool wants_waits_ = false;
    double tick_at_ = -1;
    std::uint64_t messages_ = 0;
};

}  // namespace paced::simulation
