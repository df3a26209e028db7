// SPDX-License-Identifier: BSD-3-Clause
// The conductor, at the leader: from what the nodes say to what they are told. It forms classes out of communicators,
// runs one law for each, turns a law's decision into directives with sequence numbers that lie far enough ahead, and joins
// the blocks that come back into observations. Pure: the time is given, nothing is sent here. Fixed memory.
//
//     progress of all members  ->  classes: communicators with the same signature, size and reach
//     blocks of a class        ->  Observation  ->  Law::step  ->  Decision  ->  a Directive for each communicator
//
// A program alternates between loops (training, validation): a class whose communicators are seen in another loop is left, with its law as it
// stands, and resumed when all of them are back.
//
// One class is probed at a time: what two experiments at once did to each other could not be told apart. First comes the class whose
// calls take most time.
#pragma once

#include <cstdint>

#include "policy/pacing/directive.h"
#include "policy/pacing/law.h"

namespace paced::pacing {

inline constexpr std::uint32_t conducted_limit = 256;  // communicators; more are left alone
inline constexpr std::uint32_t class_limit = 8;
inline constexpr std::uint32_t domain_limit = 16;     // bottleneck domains of a class; those beyond share the last one

// One finished block of a class, for a benchmark that compares settings.
struct BlockLine {
    std::uint64_t signature = 0;       // of the class
    std::uint64_t bytes = 0;
    std::uint32_t round = 0;           // comparison: all settings of the list once, in random order, are a round
    std::uint32_t iterations = 0;      // measured, washout left out
    std::uint32_t communicators = 0;
    std::uint32_t valid = 0;           // bits: 1 valid, 2 comparison: the block of the law's own arm
    Setting ran;
    double mean_ns = 0, log_mean = 0, cv = 0;  // as in Observation
    double service_ns = 0, held_ns = 0;
    std::uint64_t retransmissions = 0;
};
static_assert(sizeof(BlockLine) == 128);

class Conductor {
public:
    Conductor(const Tuning& tuning, std::uint64_t window_ns, std::uint64_t seed);

    // What all nodes together say of a communicator (Progress and BlockSummary joined over them), at now_ns.
    void progress(const Progress& progress, std::uint64_t now_ns);
    void block(const BlockSummary& block);
    // Since the job began, over all nodes.
    void retransmissions(std::uint64_t segments);
    void surroundings(bool tcp, bool pays_for_waiting);
    // Nodes were lost, or a message made no sense: everything off, for good.
    void fault();
    // The job has ended: what is still being tried is not decided any more.
    void finish();

    // Directives that are new since the last call; at most limit. The rest comes with the next call.
    std::uint32_t directives(std::uint64_t now_ns, Directive* to, std::uint32_t limit);

    // Blocks that have ended since the last call, oldest first; at most limit. Those that nobody fetches are forgotten.
    std::uint32_t lines(BlockLine* to, std::uint32_t limit);

    // For the report.
    struct ClassAccount {
        std::uint64_t signature = 0;
        std::uint64_t bytes = 0;
        Facts facts;
        Account account;
    };
    std::uint32_t classes() const { return class_count_; }
    // Brought up to date by this call.
    const ClassAccount& account(std::uint32_t index);

private:
    struct Communicator {
        Progress last{};
        std::uint64_t heard_ns = 0, met_ns = 0;  // last, first
        double calls_per_ns = 0;            // smoothed
        std::uint32_t reports = 0;          // in a row with this period and signature
        std::uint32_t strange = 0;          // in a row with another than its class's
        std::int32_t in_class = -1;
        std::uint32_t domain = 0;           // within its class: those that share a leaf, directly or by way of others
        std::uint64_t passed_ns = 0;        // when its calls had passed the end of the running block; 0: not yet
        bool told = true;                   // `now` has been fetched
        Directive now;                      // the running block, and the one after it where that is known
        BlockSummary block[2];              // what has come back of these two; epoch 0: nothing yet
    };
    struct Class {
        ClassAccount account;
        Law law;
        bool begun = false;                 // the law has made its first decision
        bool over = false;
        bool left = false;                  // its communicators do something else for now: OFF, and the law waits
        std::uint64_t back_ns = 0;          // left: since when some of them are in its loop again; 0: none
        bool running = false;               // a block is under way
        Decision decision, then;            // of the running block, and of the one that is announced to follow it
        bool has_then = false;
        double service_per_iteration_ns = 0;
        std::uint64_t retransmissions = 0;  // at the block's beginning
        std::uint32_t lost = 0;             // blocks in a row that did not come back whole
    };

    // Reports with one period before a communicator is believed to be in its loop.
    static constexpr std::uint32_t steady_reports = 3;
    // What a communicator that is well may owe an answer.
    static constexpr std::uint64_t lost_ns = 2'000'000'000;

    // conductor_classes.cpp
    Communicator* find(std::uint64_t id);
    Communicator* free_place();
    bool join_class(Communicator& communicator, std::uint64_t now_ns);
    bool is_probed(const Class& entry) const;
    std::uint32_t present(std::uint32_t index) const;
    bool is_gathering(std::uint64_t now_ns) const;
    void choose_active(std::uint64_t now_ns);
    void begin_law(std::uint32_t index, std::uint64_t now_ns);
    void end_class(std::uint32_t index, std::uint64_t now_ns);
    void leave_loop(std::uint32_t index, std::uint64_t now_ns);
    void resume_loop(std::uint32_t index);
    void wait_for_loop(std::uint32_t index, std::uint64_t now_ns);
    void move_on(std::uint32_t index, std::uint64_t now_ns);
    void release(std::uint32_t index);
    void find_domains(std::uint32_t index);
    // conductor.cpp
    void give(std::uint32_t index, const Decision& decision, std::uint64_t now_ns);
    void announce(std::uint32_t index);
    void go_on(std::uint32_t index, std::uint64_t now_ns);
    double reached(const Communicator& communicator, std::uint64_t now_ns, std::uint64_t lead_ns) const;
    double predicted_calls(const Communicator& communicator, std::uint64_t now_ns) const;
    bool is_complete(std::uint32_t index) const;
    bool is_lost(std::uint32_t index, std::uint64_t now_ns) const;
    bool has_left(std::uint32_t index, std::uint64_t now_ns) const;
    Observation observation(std::uint32_t index) const;
    void turn(std::uint32_t index, std::uint64_t now_ns);
    void log(const Class& entry, const Observation& observation);

    Tuning tuning_;
    std::uint64_t window_ns_ = 0, seed_ = 0;
    bool tcp_ = false, pays_for_waiting_ = false, faulted_ = false;
    std::uint64_t retransmissions_ = 0;
    std::uint64_t joined_ns_ = 0;           // when the last communicator joined a class
    std::int32_t active_ = -1;              // the class that is probed
    std::uint32_t count_ = 0, class_count_ = 0, begun_ = 0;
    Communicator communicators_[conducted_limit];
    Class classes_[class_limit];
    static constexpr std::uint32_t line_limit = 64;
    BlockLine lines_[line_limit];
    std::uint64_t lines_written_ = 0, lines_read_ = 0;
};

}  // namespace paced::pacing
