// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/pacing/permits.h"

#include <cerrno>
#include <cstring>

#include <linux/futex.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plugin/interposer/exchange/datagram.h"
#include "plugin/interposer/exchange/permit_wire.h"
#include "plugin/interposer/exchange/settings.h"
#include "plugin/interposer/shared.h"
#include "policy/pacing/permits.h"

namespace paced::interposer {
namespace {

// A datagram that was lost is sent again after this, and after twice as long each time: longer than one service of most calls, so that
// waiting for one's turn is not taken for a loss, and well below the deadlines.
constexpr std::uint64_t first_repeat_ns = 10'000'000;
// Datagrams that are looked at without looking at the clock: strangers can send what they like.
constexpr int turn_limit = 64;

enum class State : std::uint32_t { unprepared, ready, opening, open, failed };

// Plain memory: no constructor runs when the library is loaded.
struct Client {
    std::uint32_t state;
    std::uint32_t timeouts;  // in a row
    int socket;
    std::uint64_t cookie;    // of the socket
    char leader[64];
    Address address;
    alignas(PermitKey) std::uint8_t key[sizeof(PermitKey)];
};
Client client;

const PermitKey& key() { return *reinterpret_cast<const PermitKey*>(client.key); }

std::uint64_t cookie_of(int descriptor) {
    std::uint64_t cookie = 0;
    socklen_t size = sizeof cookie;
    return getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

void fail() { store_release(client.state, State::failed); }

bool is_open(std::uint32_t port) {
    auto state = static_cast<State>(load_acquire(client.state));
    if (state == State::ready && port != 0) {
        std::uint32_t expected = static_cast<std::uint32_t>(State::ready);
        if (!__atomic_compare_exchange_n(&client.state, &expected, static_cast<std::uint32_t>(State::opening), false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return false;
        client.socket = read_address(client.leader, static_cast<std::uint16_t>(port), client.address) ? open_datagrams(client.address) : -1;
        client.cookie = client.socket >= 0 ? cookie_of(client.socket) : 0;
        state = client.cookie != 0 ? State::open : State::failed;
        store_release(client.state, state);
    }
    return state == State::open;
}

// A host that closes all descriptors may have got this number for a connection of its own: nothing of ours may go there, and
// nothing of its own may be taken from it.
bool is_ours() {
    if (cookie_of(client.socket) == client.cookie) return true;
    fail();
    return false;
}

bool send(const PermitCall& call, PermitMessage::Type type, std::uint64_t members) {
    if (!is_ours()) return false;
    const pacing::Setting& setting = call.setting;
    const PermitMessage message{type, setting.arm == pacing::Arm::barrier, setting.domain, static_cast<std::uint8_t>(call.entry->size), setting.width,
                                call.entry->id, call.sequence, members, setting.cap_ns};
    std::uint8_t datagram[permit_datagram];
    key().seal(message, datagram);
    return sendto(client.socket, datagram, sizeof datagram, MSG_DONTWAIT | MSG_NOSIGNAL, &client.address.any, size_of(client.address)) == static_cast<ssize_t>(sizeof datagram);
}

// Adds this rank to a set of those that have come by; the last of the node's members empties it and gets the whole. Members can't mix
// up two calls: a synchronizing collective lets nobody into the next call before all have come to this one, nor out of the next
// before all have left this one. A member that is out of step (a directive that came late) costs a permit that is asked for or given
// back at the wrong moment, no more.
std::uint64_t last_of(std::uint64_t& set, const PermitCall& call) {
    const std::uint64_t own = std::uint64_t{1} << call.rank;
    const std::uint64_t all = __atomic_or_fetch(&set, own, __ATOMIC_ACQ_REL);
    if (static_cast<std::uint32_t>(__builtin_popcountll(all)) < load(call.entry->local)) return 0;
    store_release(set, 0u);
    return all;
}

std::uint32_t number(std::uint64_t sequence) { return static_cast<std::uint32_t>(sequence) + 1; }
bool is_at_least(std::uint32_t granted, std::uint32_t wanted) { return static_cast<std::int32_t>(granted - wanted) >= 0; }

void wake_up(pacing::PacedCommunicator& entry, std::uint32_t granted) {
    std::uint32_t before = load(entry.granted);
    do {
        if (is_at_least(before, granted)) return;  // an older grant than we have, or the same again
    } while (!__atomic_compare_exchange_n(&entry.granted, &before, granted, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    if (load(entry.local) > 1) syscall(SYS_futex, &entry.granted, FUTEX_WAKE, 0x7fffffff, nullptr, nullptr, 0);
}

// Grants that have come, also those of a communicator that another thread of this process waits for.
void receive(segment::Header& header, pacing::PacedCommunicator& own) {
    if (!is_ours()) return;
    for (int i = 0; i < turn_limit; ++i) {
        std::uint8_t datagram[permit_datagram + 1];
        const ssize_t got = recv(client.socket, datagram, sizeof datagram, MSG_DONTWAIT);
        if (got < 0) return;
        PermitMessage message;
        if (!key().open(datagram, static_cast<std::size_t>(got), message) || message.type != PermitMessage::Type::grant) continue;
        if (message.communicator == own.id) {
            wake_up(own, number(message.sequence));
            continue;
        }
        for (pacing::PacedCommunicator& entry : header.communicators)
            if (load(entry.id) == message.communicator) wake_up(entry, number(message.sequence));
    }
}

timespec timespec_of(std::uint64_t ns) { return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)}; }

// Whoever asked also receives, and asks again where nothing comes.
bool wait_by_socket(segment::Header& header, const PermitCall& call, std::uint64_t deadline_ns) {
    const std::uint32_t wanted = number(call.sequence);
    std::uint64_t pause_ns = first_repeat_ns, repeat_ns = now_ns() + pause_ns;
    for (;;) {
        receive(header, *call.entry);
        if (is_at_least(load_acquire(call.entry->granted), wanted)) return true;
        if (static_cast<State>(load_acquire(client.state)) != State::open) return false;
        const std::uint64_t now = now_ns();
        if (now >= deadline_ns) return false;
        if (now >= repeat_ns) {
            if (!send(call, PermitMessage::Type::request, call.asked)) return false;
            pause_ns *= 2;
            repeat_ns = now + pause_ns;
        }
        const timespec limit = timespec_of((repeat_ns < deadline_ns ? repeat_ns : deadline_ns) - now);
        pollfd waited{client.socket, POLLIN, 0};
        // A signal of the host ends it early, and the loop goes on to the same deadline.
        if (ppoll(&waited, 1, &limit, nullptr) > 0 && (waited.revents & POLLNVAL) != 0) return fail(), false;
    }
}

bool wait_by_word(const PermitCall& call, std::uint64_t deadline_ns) {
    const std::uint32_t wanted = number(call.sequence);
    const timespec deadline = timespec_of(deadline_ns);
    for (;;) {
        const std::uint32_t granted = load_acquire(call.entry->granted);
        if (is_at_least(granted, wanted)) return true;
        // FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC.
        if (syscall(SYS_futex, &call.entry->granted, FUTEX_WAIT_BITSET, granted, &deadline, nullptr, FUTEX_BITSET_MATCH_ANY) == 0 || errno == EAGAIN || errno == EINTR) {
            if (now_ns() < deadline_ns) continue;
        }
        return is_at_least(load_acquire(call.entry->granted), wanted);
    }
}

}  // namespace

void prepare_permits(const char* leader, const PermitKey& from) {
    if (std::strlen(leader) >= sizeof client.leader) return;
    if (static_cast<State>(load_acquire(client.state)) == State::open) close(client.socket);
    std::strcpy(client.leader, leader);
    std::memcpy(client.key, &from, sizeof from);
    client.timeouts = 0;
    store_release(client.state, State::ready);
}

void prepare_permits() {
    ExchangeSettings settings;
    const char* problem = nullptr;
    // What is wrong with the settings is the agent's to say.
    if (read_exchange_settings(settings, &problem)) {
        const PermitKey made(settings.secrets);
        prepare_permits(settings.leader, made);
    }
    explicit_bzero(&settings, sizeof settings);
}

bool permit_request(segment::Header& header, const PermitCall& call) {
    pacing::PacedCommunicator& entry = *call.entry;
    call.asked = 0;
    if (call.rank >= pacing::member_limit || entry.size > pacing::member_limit) return false;
    if (load(entry.given_up) == call.epoch || !is_open(load_acquire(header.permits_port))) return false;
    if (const std::uint64_t all = last_of(entry.asking, call); all != 0) {
        call.asked = all;
        if (!send(call, PermitMessage::Type::request, all)) return false;
    }
    return true;
}

bool wait_for_grant(segment::Header& header, const PermitCall& call, std::uint64_t deadline_ns) {
    const bool granted = call.asked != 0 ? wait_by_socket(header, call, deadline_ns) : wait_by_word(call, deadline_ns);
    if (granted) {
        store(client.timeouts, 0u);
    } else {
        if (fetch_add(client.timeouts, 1u) + 1 >= timeouts_limit) {
            store(call.entry->given_up, call.epoch);
            store(client.timeouts, 0u);
        }
    }
    return granted;
}

void permit_done(segment::Header&, const PermitCall& call) {
    if (static_cast<State>(load_acquire(client.state)) != State::open) return;
    if (const std::uint64_t all = last_of(call.entry->leaving, call); all != 0) send(call, PermitMessage::Type::done, all);
}

}  // namespace paced::interposer
