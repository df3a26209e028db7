// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/pacing/crowded.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

std::uint32_t ones(const std::uint64_t (&cpus)[16]) {
    std::uint32_t count = 0;
    for (const std::uint64_t word : cpus) count += static_cast<std::uint32_t>(__builtin_popcountll(word));
    return count;
}

}  // namespace

Crowd::Crowd(const std::uint64_t (&cpus)[16]) : cores_(ones(cpus)) { std::memcpy(cpus_, cpus, sizeof cpus_); }

void Crowd::add(const segment::Rank& rank) {
    std::uint32_t common = 0;
    for (int i = 0; i < 16; ++i) common += static_cast<std::uint32_t>(__builtin_popcountll(cpus_[i] & rank.cpus[i]));
    if (const std::uint32_t all = ones(rank.cpus); all != 0) load_ += common * unit / all;
}

bool is_crowded(const char* segment_path, const segment::Header& header, const segment::Rank& own) {
    const int file = open(segment_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return true;
    Crowd crowd(own.cpus);
    const std::uint32_t claimed = load(header.claimed), count = claimed < segment::slot_limit ? claimed : segment::slot_limit;
    segment::Rank rank;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto from = static_cast<off_t>(sizeof(segment::Header) + i * sizeof(segment::Slot));
        if (pread(file, &rank, sizeof rank, from) != static_cast<ssize_t>(sizeof rank) || rank.state != segment::State::running) continue;
        if (kill(static_cast<pid_t>(rank.pid), 0) == 0 || errno != ESRCH) crowd.add(rank);
    }
    close(file);
    return crowd.is_crowded();
}

}  // namespace paced::interposer
