// SPDX-License-Identifier: BSD-3-Clause
// A node under pacing without processes: ranks as threads, each with a Process and a slot of its own, and the directives
// that their node's agent would write.
#pragma once

#include <memory>
#include <vector>

#include "plugin/interposer/communicators.h"
#include "plugin/interposer/mpi/operations.h"
#include "plugin/interposer/pacing/gate.h"
#include "plugin/interposer/process.h"

namespace paced::test {

// As the agent writes it: odd while it is being written.
inline void write_directive(pacing::PacedCommunicator& entry, const pacing::Directive& directive) {
    using Word [[gnu::may_alias]] = std::uint64_t;
    interposer::store(entry.version, interposer::load(entry.version) + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (std::size_t i = 0; i < sizeof directive / sizeof(Word); ++i)
        interposer::store(reinterpret_cast<Word*>(&entry.next)[i], reinterpret_cast<const Word*>(&directive)[i]);
    interposer::store_release(entry.version, interposer::load(entry.version) + 1);
}

class PacedNode {
public:
    static constexpr std::uint32_t communicators = 4;

    explicit PacedNode(std::uint32_t ranks, const char* window = "auto") : header(std::make_unique<segment::Header>()) {
        for (std::uint32_t r = 0; r < ranks; ++r) {
            slots_.push_back(std::make_unique<segment::Slot>());
            processes_.push_back(std::make_unique<interposer::Process>(interposer::Process{1, 0, nullptr, slots_.back().get(), header.get(), false}));
            interposer::prepare_gate(*processes_.back(), "/nonexistent", window);  // cannot be read: crowded, so nobody spins
        }
        paced_.resize(ranks * communicators);
        calls_.resize(ranks * communicators);
    }

    static constexpr std::uint64_t id(std::uint32_t communicator) { return 1000 + communicator; }
    pacing::PacedCommunicator& entry(std::uint32_t communicator) { return *paced_of(communicator).node; }
    interposer::Process& process(std::uint32_t rank) { return *processes_[rank]; }
    const pacing::PacedRank& shown(std::uint32_t rank, std::uint32_t communicator = 0) { return slots_[rank]->paced[rank * communicators + communicator]; }
    std::uint64_t& calls(std::uint32_t rank, std::uint32_t communicator = 0) { return calls_[rank * communicators + communicator]; }

    void join(std::uint32_t rank, std::uint32_t communicator = 0, std::uint32_t size = 4) {
        interposer::Tracked tracked{};
        tracked.size = size;
        tracked.rank = rank;
        tracked.index = rank * communicators + communicator;
        tracked.id = id(communicator);
        paced_[tracked.index] = interposer::pace_communicator(*processes_[rank], tracked);
    }

    // One call, around `real`; how it went through the gate. bytes as the finder is to see them.
    template <class Real>
    interposer::Passage call(std::uint32_t rank, std::uint32_t communicator, Real real, interposer::Operation operation = interposer::Operation::allreduce,
                             std::uint64_t bytes = 4096) {
        interposer::Paced& paced = *paced_[rank * communicators + communicator];
        const std::uint64_t sequence = calls(rank, communicator)++, arrival = interposer::now_ns();
        interposer::Passage passage;
        interposer::pass_gate(*processes_[rank], paced, static_cast<std::uint32_t>(operation), sequence, arrival, passage);
        real();
        interposer::leave_gate(*processes_[rank], paced, static_cast<std::uint32_t>(operation), sequence, bytes, arrival, interposer::now_ns(), passage);
        return passage;
    }
    interposer::Passage call(std::uint32_t rank, interposer::Operation operation = interposer::Operation::allreduce, std::uint64_t bytes = 4096) {
        return call(rank, 0, [] {}, operation, bytes);
    }

    // From the next call of rank 0 on.
    pacing::Directive directive(pacing::Arm arm, std::uint32_t communicator = 0) {
        pacing::Directive made;
        made.communicator = id(communicator);
        made.from_sequence = calls(0, communicator);
        made.epoch = ++epoch_;
        made.period = 1;
        made.setting.arm = arm;
        made.setting.cap_ns = 1'000'000'000;
        return made;
    }

    const std::unique_ptr<segment::Header> header;

private:
    interposer::Paced& paced_of(std::uint32_t communicator) {
        for (std::size_t i = communicator; i < paced_.size(); i += communicators)
            if (paced_[i] != nullptr) return *paced_[i];
        return *paced_[communicator];
    }

    std::vector<std::unique_ptr<segment::Slot>> slots_;
    std::vector<std::unique_ptr<interposer::Process>> processes_;
    std::vector<interposer::Paced*> paced_;
    std::vector<std::uint64_t> calls_;
    std::uint32_t epoch_ = 0;
};

}  // namespace paced::test
