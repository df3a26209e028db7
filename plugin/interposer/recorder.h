// SPDX-License-Identifier: BSD-3-Clause
// The recorder: what happens around one call of the host. enter() and begin() before the real function, finish() after
// it. No allocation, no lock, no system call, two clock reads. Under `pace` begin() may delay the call (pacing/gate.h).
//
// The arrival is taken first and everything that can be done after the call is done after it: bytes are counted when
// the library has accepted the arguments (asking it for the size of a wrong datatype would run the host's error
// handler for a mistake that is the library's to report), and an unknown communicator is entered when it has proven
// valid.
#pragma once

#include "plugin/interposer/communicators.h"
#include "plugin/interposer/pacing/gate.h"
#include "plugin/interposer/process.h"
#include "plugin/interposer/shared.h"
#include "plugin/interposer/thread_state.h"

namespace paced::interposer {

class Call {
public:
    // Whether this is a call of the host in an engaged process: not the library calling itself, not a forked child.
    bool enter() {
        process_ = engaged_process();
        if (process_ == nullptr || load(process_->mpi) == nullptr || thread_state.inside) return false;
        thread_state.inside = true;
        return true;
    }
    // The same for a library whose functions do not call one another and may be left by an exception: there is nothing to
    // take back, and leave() is not called.
    bool enter_unguarded() {
        process_ = engaged_process();
        return process_ != nullptr;
    }
    void leave() { thread_state.inside = false; }

    const Library& mpi() const { return *process_->mpi; }
    segment::Rank& rank() const { return process_->slot->rank; }

    void begin(std::uint32_t operation, word key);
    // The completion, first thing after the real function.
    void returned();
    // The communicator, if its calls are recorded. Enters a new one: handle tells (in C form) which.
    bool is_known() const { return recorded_; }
    void meet(word key, word handle);
    // No other thread was inside a collective of this communicator when this call began. Only then may it be delayed.
    bool is_alone() const { return alone_; }
    const Tracked& communicator() const { return *tracked_; }
    // Not recorded: one of too many communicators, or else of a kind that has a counter of its own.
    void count_only(segment::Counter kind);
    void finish(std::uint64_t bytes);
    // A communicator is about to be freed.
    void release(const Tracked& tracked);

private:
    void open_record();
    void confirm_record();

    Process* process_;
    Tracked* tracked_;
    segment::Record* record_;
    const std::uint64_t* owner_;  // of record_: whether it still is this call's
    std::uint64_t tag_;
    std::uint64_t arrival_ns_, completion_ns_;
    std::uint64_t sequence_;
    std::uint32_t operation_;
    bool recorded_, alone_;
    bool gated_;       // went through the gate
    Passage passage_;  // where it did
};

}  // namespace paced::interposer
