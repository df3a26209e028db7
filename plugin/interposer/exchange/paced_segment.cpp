// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/paced_segment.h"

#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

bool is_off(const pacing::Directive& directive) {
    return directive.setting.arm == pacing::Arm::off && (directive.then_length == 0 || directive.then.arm == pacing::Arm::off);
}

}  // namespace

void PacedSegment::clear_directives() {
    for (pacing::PacedCommunicator& entry : header_.communicators)
        if (entry.next.epoch != 0) write_next(entry, {});
}

void PacedSegment::set_permits_port(std::uint16_t port) { store_release(header_.permits_port, port); }

bool PacedSegment::write(const pacing::Directive& directive) {
    for (pacing::PacedCommunicator& entry : header_.communicators) {
        if (load_acquire(entry.id) != directive.communicator) continue;
        write_next(entry, directive);
        return true;
    }
    return false;
}

void PacedSegment::all_off() {
    for (pacing::PacedCommunicator& entry : header_.communicators) {
        if (load_acquire(entry.id) == 0 || entry.next.epoch == 0 || is_off(entry.next)) continue;
        pacing::Directive off;
        off.communicator = entry.next.communicator;
        off.epoch = last_epoch(entry.next) + 1;
        off.period = entry.next.period;
        write_next(entry, off);
    }
}

bool PacedSegment::is_pacing() const {
    for (const pacing::PacedCommunicator& entry : header_.communicators)
        if (!is_off(entry.next)) return true;
    return false;
}

void PacedSegment::forget() {
    for (pacing::PacedCommunicator& entry : header_.communicators) {
        if (load(entry.id) == 0) continue;
        write_next(entry, {});
        // the version stays: it tells a reader that something was written
        entry.local = entry.arrived = entry.size = 0;
        entry.granted = entry.given_up = 0;
        entry.asking = entry.leaving = 0;
        store_release(entry.id, std::uint64_t{0});
    }
    store(header_.paced, 0u);
}

// Word by word, so that a rank which reads meanwhile sees old or new words and, by the version, that it must look again. An odd version
// can be found only where an earlier agent died while writing.
void PacedSegment::write_next(pacing::PacedCommunicator& entry, const pacing::Directive& directive) {
    static_assert(sizeof directive % 8 == 0);
    const std::uint32_t version = load(entry.version) | 1;
    store(entry.version, version);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    store_words(&entry.next, &directive, sizeof directive);
    store_release(entry.version, version + 1);
}

}  // namespace paced::interposer
