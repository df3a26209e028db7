// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/pacing/gate.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "plugin/interposer/communicators.h"
#include "plugin/interposer/pacing/crowded.h"
#include "plugin/interposer/pacing/delay.h"
#include "plugin/interposer/pacing/node_table.h"
#include "plugin/interposer/pacing/sockets.h"

namespace paced::interposer {

using pacing::Arm;
using pacing::Directive;
using pacing::Setting;

namespace {

// Above every limit that a site sets for good reason, below every watchdog: whatever stands in the segment.
constexpr std::uint64_t longest_delay_ns = 1'000'000'000;
// A remote hold ends this much before the rank's own shortest wait: what a sleeper may wake too late.
constexpr std::uint64_t hold_margin_ns = 50'000;
// By then an MPI has made its connections, or those of an algorithm that it changed to; what is sent between the two is sent by so many calls.
// Two of the calls at which the period is looked for.
constexpr std::uint64_t early_socket_call = 16, late_socket_call = 64;
constexpr std::uint32_t most_looks = 16;

constinit Paced pool[segment::communicator_limit];  // by the communicator's place in the slot
char segment_path[544];
std::uint32_t crowd_claimed;              // Header::claimed when `crowded` was found out
bool crowded = true;
BriefLock rate_lock;                      // of the sockets' rates
std::uint32_t rated;                      // communicators whose setting is RATE
std::uint64_t rate_bytes_s;               // as the last of them had it
std::uint32_t rate_changes;
std::uint32_t sockets_looks;  // at the process's sockets

bool is_newer(std::uint32_t epoch, std::uint32_t than) { return epoch != 0 && static_cast<std::int32_t>(epoch - than) > 0; }

void show_block(pacing::PacedRank& shown, const pacing::RankBlock& block) {
    using Word [[gnu::may_alias]] = std::uint64_t;
    pacing::RankBlock& to = shown.blocks[block.epoch % 2];
    static_assert(sizeof block % sizeof(Word) == 0);
    static_assert(offsetof(pacing::RankBlock, epoch) == 0);
    // The epoch first: whoever still reads the block that was here before finds it changed.
    store(reinterpret_cast<Word*>(&to)[0], reinterpret_cast<const Word*>(&block)[0]);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (std::size_t i = 1; i < sizeof block / sizeof(Word); ++i) store(reinterpret_cast<Word*>(&to)[i], reinterpret_cast<const Word*>(&block)[i]);
    store_release(shown.finished, block.epoch);
}

void show_void(pacing::PacedRank& shown, std::uint32_t epoch) {
    pacing::RankBlock block;
    block.epoch = epoch;
    block.late = 1;
    show_block(shown, block);
}

// Threads may come here at once, each for its communicator: who finds another one at the sockets leaves it to that one.
void apply_rate(Process& process) {
    for (std::uint32_t seen = ~load_acquire(rate_changes); seen != load_acquire(rate_changes);) {
        if (!rate_lock.try_lock()) return;
        seen = load_acquire(rate_changes);
        const bool limited = load(rated) != 0;
        const std::uint32_t count = pace_fabric_sockets(limited ? load(rate_bytes_s) : 0);
        if (limited) store(process.slot->rank.fabric_sockets, count);
        rate_lock.unlock();
    }
}

void change_rate(Process& process, const Setting& from, const Setting& to) {
    const bool was = from.arm == Arm::rate, is = to.arm == Arm::rate;
    if (!was && !is) return;
    if (is) store(rate_bytes_s, to.rate_bytes_s);
    if (is && !was) fetch_add(rated, 1u);
    if (!is && was) fetch_add(rated, ~0u);
    __atomic_add_fetch(&rate_changes, 1u, __ATOMIC_ACQ_REL);
    apply_rate(process);
}

bool may_spin(Process& process) {
    const std::uint32_t claimed = load(process.header->claimed);
    if (claimed != load(crowd_claimed)) {
        store(crowded, is_crowded(segment_path, *process.header, process.slot->rank));
        store(crowd_claimed, claimed);
    }
    return !load(crowded);
}

void follow(Paced& paced) {
    paced.pending = following(paced.current);
    paced.has_pending = true;
    paced.quiet_version = gate_is_busy;
}

void take_directive(Paced& paced) {
    Directive found;
    if (!read_directive(*paced.node, found, paced.version)) return;
    Directive& last = paced.has_pending ? paced.pending : paced.current;
    if (static_cast<std::uint32_t>(found.setting.arm) >= pacing::arm_count) found.setting = Setting{};
    if (static_cast<std::uint32_t>(found.then.arm) >= pacing::arm_count) found.then_length = 0;
    if (found.communicator != paced.node->id) return;
    if (is_newer(found.epoch, last.epoch)) {
        paced.pending = found;
        paced.has_pending = true;
    } else if (extends(found, last)) {
        last = found;
        if (!paced.has_pending && !paced.meter.is_open()) follow(paced);  // the block is over here, this may be in time yet
    }
}

void start_block(Process& process, Paced& paced, std::uint64_t sequence) {
    if (paced.meter.is_open()) finish_block(paced);
    // A directive that this rank never saw: its block is void here, and whoever waits for it is told so.
    if (paced.pending.epoch - 1 != paced.current.epoch) {
        // The next one first: a reader may still be in the place of the current one, which has the same parity as the one after it.
        if (paced.current.epoch != 0 && paced.pending.epoch - 2 != paced.current.epoch) show_void(*paced.shown, paced.current.epoch + 1);
        show_void(*paced.shown, paced.pending.epoch - 1);
    }
    change_rate(process, paced.current.setting, paced.pending.setting);
    paced.current = paced.pending;
    paced.has_pending = false;
    paced.phase_due = true;
    paced.meter.begin(paced.current, sequence, paced.last_completion_ns);
}

// At the beginning of a blocking collective on an intracommunicator of several ranks, at depth 0 (Call::enter): everything else never
// comes here. It must end on all members together (a root may run ahead of the others, and must be let), and
// no other thread may be in a recorded call: MPI orders a thread's calls, and two of them are more than one order.
//
// Non-blocking collectives that may be under way on the communicator are no reason: when they complete is not seen, and a
// delay holds up their progress as any computation would; the law measures whether that costs more than it gains.
bool may_delay(const Process& process, std::uint32_t operation, std::uint64_t arrival_ns) {
    return arrival_ns != 0 && is_in(synchronizing_operations, operation) && load(process.inside) <= 1 && load(process.paused) == 0;
}

// All calls that this rank has begun, told to the others on the node; those that wait for it are woken by the last. True: all are here.
bool tell_arrival(Paced& paced, std::uint64_t sequence, std::uint32_t& wanted) {
    const auto begun = static_cast<std::uint32_t>(sequence + 1);
    const std::uint32_t new_calls = begun - paced.told;
    paced.told = begun;
    wanted = begun * load(paced.node->local);
    const std::uint32_t value = __atomic_add_fetch(&paced.node->arrived, new_calls, __ATOMIC_ACQ_REL);
    if (!has_reached(value, wanted)) return false;
    wake_all(paced.node->arrived);
    return true;
}

std::uint64_t smaller(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

// How long after its arrival this call shall begin, by the arms that need nobody else.
std::uint64_t delay_of(Paced& paced, std::uint64_t arrival_ns) {
    const Setting& setting = paced.current.setting;
    switch (setting.arm) {
        case Arm::hold_remote: {
            const std::uint64_t kept = setting.service_ns + hold_margin_ns;
            return paced.shortest_wait_ns > kept ? smaller(paced.shortest_wait_ns - kept, setting.delay_ns) : 0;
        }
        case Arm::slots: {
            // Of calls that follow each other at once only the first waits: the others find the place that it has waited for.
            const std::uint64_t gap = paced.last_completion_ns != 0 ? arrival_ns - paced.last_completion_ns : 0;
            if (!paced.period.is_data_next() || gap <= setting.delay_ns / 2) return 0;
            return smaller(setting.delay_ns, longest_delay_ns) * smaller(paced.current.position, 1u << 20);
        }
        case Arm::phase:
            if (!paced.phase_due) return 0;
            paced.phase_due = false;
            return setting.delay_ns;
        case Arm::fixed_delay:
            return paced.last_wait_ns > setting.service_ns && paced.last_wait_ns - setting.service_ns > setting.threshold_ns ? setting.delay_ns : 0;
        default:
            return 0;
    }
}

// True: there was something to wait for.
bool wait_for_permit(Paced& paced, std::uint64_t sequence, std::uint64_t deadline_ns, Passage& passage) {
    if (paced.current.setting.arm == Arm::admit && !paced.period.is_data_next()) return false;
    paced.permit = {paced.node, paced.current.setting, sequence, paced.current.epoch, paced.rank};
    passage.permit = permit_request(*paced.header, paced.permit);
    if (passage.permit) passage.timed_out = !wait_for_grant(*paced.header, paced.permit, deadline_ns);
    return passage.permit;
}

bool hold_for_local(Paced& paced, std::uint64_t sequence, bool may_wait, std::uint64_t deadline_ns, Passage& passage) {
    std::uint32_t wanted = 0;
    if (tell_arrival(paced, sequence, wanted) || !may_wait) return false;
    passage.timed_out = !wait_until_reached(paced.node->arrived, wanted, deadline_ns);
    return true;
}

bool delay(Process& process, Paced& paced, std::uint64_t sequence, bool may_wait, std::uint64_t arrival_ns, Passage& passage) {
    const Setting& setting = paced.current.setting;
    const std::uint64_t cap_ns = smaller(setting.cap_ns, process.delay_limit_ns);
    const std::uint64_t deadline_ns = arrival_ns + cap_ns;
    may_wait = may_wait && cap_ns != 0;
    // every call of a communicator counts, or one that came by other ways would be missing for ever
    if (setting.arm == Arm::hold_local) return hold_for_local(paced, sequence, may_wait, deadline_ns, passage);
    if (!may_wait) return false;
    if (setting.arm == Arm::admit || setting.arm == Arm::barrier) return wait_for_permit(paced, sequence, deadline_ns, passage);
    const std::uint64_t wanted_ns = smaller(delay_of(paced, arrival_ns), cap_ns);
    if (wanted_ns == 0) return false;
    delay_until(arrival_ns + wanted_ns, may_spin(process));
    return true;
}

// MPI connects when it first needs to. What other communicators send meanwhile is counted too: then a rate is too high, and does nothing.
void look_at_sockets(Process& process, Paced& paced, bool late) {
    if (fetch_add(sockets_looks, 1u) >= most_looks) return;
    const int error = errno;
    const SocketTraffic seen = look_at_fabric_sockets();
    errno = error;
    if (seen.count != 0) store(process.slot->rank.fabric_sockets, seen.count);
    if (!late) {
        paced.early_bytes = seen.busiest_bytes;
    } else if (seen.busiest_bytes > paced.early_bytes) {
        store(paced.shown->socket_bytes, (seen.busiest_bytes - paced.early_bytes) / (late_socket_call - early_socket_call));
    }
}

}  // namespace

void prepare_gate(Process& process, const char* run_folder, const char* window) {
    std::snprintf(segment_path, sizeof segment_path, "%s/segment", run_folder);
    process.delay_limit_ns = longest_delay_ns;
    if (std::strncmp(window, "auto:", 5) == 0) window += 5;  // the law knows its own caps alone; the site's stands behind them
    if (*window >= '0' && *window <= '9') process.delay_limit_ns = smaller(std::strtoull(window, nullptr, 10), longest_delay_ns);
    prepare_permits();
    process.paces = true;
}

void close_gate() {
    if (load(rated) == 0) return;
    store(rated, 0u);
    pace_fabric_sockets(0);
}

Paced* pace_communicator(Process& process, const Tracked& tracked) {
    if (tracked.size < 2 || process.header == nullptr) return nullptr;
    pacing::PacedCommunicator* const node = join_paced(*process.header, tracked.id, tracked.size);
    if (node == nullptr) return nullptr;
    Paced& paced = pool[tracked.index];
    paced = Paced{};
    paced.header = process.header;
    paced.node = node;
    paced.shown = &process.slot->paced[tracked.index];
    paced.rank = tracked.rank;
    paced.version = paced.quiet_version = gate_is_busy;
    return &paced;
}

void finish_block(Paced& paced) {
    const pacing::RankBlock& block = paced.meter.close();
    if (block.calls != 0 && block.late == 0) paced.shortest_wait_ns = block.shortest_wait_ns;
    show_block(*paced.shown, block);
    if (paced.current.then_length != 0 && !paced.has_pending) follow(paced);
}

void show_period(Process& process, Paced& paced, std::uint64_t sequence) {
    if (sequence + 1 == early_socket_call || sequence + 1 == late_socket_call) look_at_sockets(process, paced, sequence + 1 == late_socket_call);
    pacing::PacedRank& shown = *paced.shown;
    const pacing::PeriodFinder& found = paced.period;
    if (load(shown.signature) == found.signature() && load(shown.period) == found.period() && load(shown.bytes) == found.bytes()) return;
    store(shown.signature, 0u);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    store(shown.period, found.period());
    store(shown.bytes, found.bytes());
    store_release(shown.signature, found.signature());
}

void give_back_permit(Paced& paced) {
    const int error = errno;
    permit_done(*paced.header, paced.permit);
    errno = error;
}

void release_communicator(Process& process, Paced& paced) {
    const int error = errno;
    change_rate(process, paced.current.setting, Setting{});
    paced.current.setting = Setting{};
    errno = error;
}

void wait_at_gate(Process& process, Paced& paced, std::uint32_t operation, std::uint64_t sequence, std::uint64_t arrival_ns, Passage& passage) {
    const int error = errno;
    if (load(paced.node->version) != paced.version) take_directive(paced);
    if (paced.has_pending && sequence >= paced.pending.from_sequence) start_block(process, paced, sequence);
    const bool is_quiet = !paced.has_pending && (paced.current.setting.arm == Arm::off || paced.current.setting.arm == Arm::rate);
    paced.quiet_version = is_quiet ? paced.version : gate_is_busy;
    if (!is_quiet && delay(process, paced, sequence, may_delay(process, operation, arrival_ns), arrival_ns, passage)) {
        passage.entry_ns = now_ns();
        passage.held_ns = passage.entry_ns - arrival_ns;
    }
    errno = error;
}

}  // namespace paced::interposer
