// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/fake_agent.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/interposer/shared.h"

namespace paced::test {

using interposer::load;
using interposer::load_acquire;
using interposer::store;
using interposer::store_release;

namespace {

void write_directive(pacing::PacedCommunicator& entry, const pacing::Directive& directive) {
    using Word [[gnu::may_alias]] = std::uint64_t;
    store(entry.version, load(entry.version) + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (std::size_t i = 0; i < sizeof directive / sizeof(Word); ++i)
        store(reinterpret_cast<Word*>(&entry.next)[i], reinterpret_cast<const Word*>(&directive)[i]);
    store_release(entry.version, load(entry.version) + 1);
}

const segment::Slot& slot_at(const char* slots, std::uint32_t index) { return *reinterpret_cast<const segment::Slot*>(slots + index * sizeof(segment::Slot)); }

}  // namespace

FakeAgent::FakeAgent(std::string folder, Decide decide) : folder_(std::move(folder)), decide_(std::move(decide)), thread_([this] { run(); }) {}

void FakeAgent::stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
}

void FakeAgent::run() {
    int file = -1;
    while (!stopping_ && (file = ::open((folder_ + "/segment").c_str(), O_RDWR | O_CLOEXEC)) < 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (file < 0) return;
    void* const memory = ::mmap(nullptr, segment::total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (memory == MAP_FAILED) return;
    auto& header = *static_cast<segment::Header*>(memory);
    const char* const slots = static_cast<const char*>(memory) + sizeof(segment::Header);
    while (!stopping_) {
        for (pacing::PacedCommunicator& entry : header.communicators) {
            const std::uint64_t id = load_acquire(entry.id);
            if (id == 0) continue;
            std::uint64_t calls = 0;
            for (std::uint32_t i = 0; i < std::min(load(header.claimed), segment::slot_limit); ++i)
                for (const segment::Communicator& communicator : slot_at(slots, i).communicators)
                    if (load_acquire(communicator.id) == id) calls = std::max(calls, load(communicator.calls));
            pacing::Directive directive;
            if (!decide_(entry, calls, directive)) continue;
            directive.communicator = id;
            directive.epoch = entry.next.epoch + 1;
            write_directive(entry, directive);
            ++directives_;
        }
        look(header, slots);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    look(header, slots);
    ::munmap(memory, segment::total_bytes);
}

void FakeAgent::look(const segment::Header& header, const char* slots) {
    for (std::uint32_t i = 0; i < std::min(load(header.claimed), segment::slot_limit); ++i)
        for (std::uint32_t c = 0; c < segment::communicator_limit; ++c) {
            const pacing::PacedRank& shown = slot_at(slots, i).paced[c];
            const std::uint32_t finished = load_acquire(shown.finished);
            if (finished == seen_[i][c]) continue;
            const pacing::RankBlock block = shown.blocks[finished % 2];
            if (load_acquire(shown.finished) != finished || block.epoch != finished) continue;
            seen_[i][c] = finished;
            ++blocks_;
            held_ += block.held;
            late_ += block.late;
            timeouts_ += block.timeouts;
        }
}

}  // namespace paced::test
