// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/peers.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugin/interposer/exchange/socket.h"
#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

constexpr std::uint64_t greeting_limit_ns = 2'000'000'000;
// A peer that has not read for so long is dead.
constexpr std::uint64_t stuck_limit_ns = 10'000'000'000;
// Connections that have not proven anything yet, beside the followers: a port scanner must not fill the table.
constexpr std::uint32_t strangers_limit = 16;
// What is read of one peer before the others have their turn.
constexpr int reads_a_turn = 4;

// A name from the network becomes part of a file's name.
void safe_name(const char (&from)[64], char (&to)[64]) {
    std::size_t i = 0;
    for (; i + 1 < sizeof to && from[i] != '\0'; ++i) {
        const char c = from[i];
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || (c == '.' && i > 0);
        to[i] = plain ? c : '_';
    }
    to[i] = '\0';
    if (i == 0) std::strcpy(to, "unnamed");
}

bool is_stranger(const Peer& peer) { return peer.state == Peer::State::greeting || peer.state == Peer::State::proving; }

}  // namespace

std::size_t Peers::size_of(std::uint32_t nodes) { return (nodes + strangers_limit) * (sizeof(Peer) + sizeof(pollfd)) + 8 * sizeof(pollfd); }

Peers::Peers(const ExchangeSettings& settings, const Role& role, void* memory, std::uint32_t nodes)
    : settings_(settings), role_(role), peers_(static_cast<Peer*>(memory)), limit_(nodes + strangers_limit), polled_(reinterpret_cast<pollfd*>(peers_ + limit_)) {}

std::uint16_t Peers::listen(int skip) {
    for (int attempt = skip; attempt < port_attempts + skip && listener_ < 0; ++attempt) {
        const std::uint16_t port = candidate_port(settings_.ports, settings_.session, attempt);
        listener_ = listen_on(port);
        if (listener_ >= 0) return port;
    }
    return 0;
}

void Peers::close() {
    for (Peer& peer : *this) drop(peer, nullptr);
    if (listener_ >= 0) ::close(listener_);
    listener_ = -1;
}

std::uint32_t Peers::add_polled(pollfd* polled, std::uint64_t now_ns, const Owner& owner) {
    std::uint32_t count = 0;
    if (listener_ >= 0) polled[count++] = {listener_, POLLIN, 0};
    for (Peer& peer : *this) {
        if (is_stranger(peer) && now_ns > peer.since_ns + greeting_limit_ns) drop(peer, &owner);
        if (peer.state != Peer::State::free && peer.stuck_ns != 0 && now_ns > peer.stuck_ns + stuck_limit_ns) drop(peer, &owner);
        if (peer.state == Peer::State::free) continue;
        polled[count++] = {peer.socket, static_cast<short>(POLLIN | (peer.posted > peer.flushed ? POLLOUT : 0)), 0};
    }
    return count;
}

void Peers::handle(const pollfd* polled, std::uint32_t count, const Owner& owner) {
    const bool knocked = listener_ >= 0 && count > 0 && polled[0].revents != 0;
    std::uint32_t place = listener_ >= 0 ? 1 : 0;
    for (Peer& peer : *this) {
        if (place >= count) break;
        if (peer.state == Peer::State::free || peer.socket != polled[place].fd) continue;
        const short events = polled[place++].revents;
        if ((events & POLLOUT) != 0 && !flush(peer)) drop(peer, &owner);
        else if ((events & ~POLLOUT) != 0) read_from(peer, owner);
    }
    if (knocked) accept();
}

void Peers::accept() {
    const int socket = accept_on(listener_);
    if (socket < 0) return;
    // At the start of a job all followers are strangers at once, so strangers have no limit of their own below the table's.
    std::uint32_t free = 0;
    while (free < limit_ && peers_[free].state != Peer::State::free) ++free;
    if (free == limit_) {
        ::close(socket);
        return;
    }
    if (free == high_) ++high_;
    Peer* const place = &peers_[free];
    place->state = Peer::State::greeting;
    place->socket = socket;
    place->since_ns = now_ns();
    place->channel = Channel();
    place->file = -1;
    place->have = place->posted = place->flushed = 0;
    place->stored = place->stuck_ns = place->heard_ns = place->said_ns = 0;
    place->child = place->summaries = 0;
    place->listening = 0;
    place->placed = false;
}

void Peers::drop(Peer& peer, const Owner* owner) {
    if (peer.state == Peer::State::free) return;
    if (owner != nullptr) owner->gone(owner->self, peer);
    ::close(peer.socket);
    peer.state = Peer::State::free;
    while (high_ > 0 && peers_[high_ - 1].state == Peer::State::free) --high_;
}

void Peers::read_from(Peer& peer, const Owner& owner) {
    for (int turn = 0; turn < reads_a_turn; ++turn) {
        const ssize_t got = recv(peer.socket, peer.in + peer.have, sizeof peer.in - peer.have, 0);
        const std::uint64_t received_ns = now_ns();
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got <= 0) return drop(peer, &owner);
        peer.have += static_cast<std::size_t>(got);
        for (;;) {
            Channel::Frame frame;
            const Channel::Status status = peer.channel.decode(peer.in, peer.have, frame);
            if (status == Channel::Status::incomplete) break;
            const bool accepted = status == Channel::Status::complete
                && (peer.state == Peer::State::greeting ? challenge(peer, frame)
                    : peer.state == Peer::State::proving ? welcome(peer, frame, owner)
                                                         : owner.frame(owner.self, peer, frame, received_ns));
            if (!accepted) return drop(peer, &owner);
            peer.have -= frame.whole;
            std::memmove(peer.in, peer.in + frame.whole, peer.have);
        }
    }
}

bool Peers::post(Peer& peer, Message type, const void* payload, std::size_t size) {
    if (peer.posted == peer.flushed) peer.posted = peer.flushed = 0;
    if (sizeof peer.out - peer.posted < frame_limit) return false;
    peer.posted += peer.channel.encode(type, payload, size, peer.out + peer.posted);
    return flush(peer);
}

bool Peers::flush(Peer& peer) {
    while (peer.posted > peer.flushed) {
        const ssize_t sent = send(peer.socket, peer.out + peer.flushed, peer.posted - peer.flushed, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            peer.flushed += static_cast<std::size_t>(sent);
        } else if (sent < 0 && errno == EAGAIN) {
            if (peer.stuck_ns == 0) peer.stuck_ns = now_ns();
            return true;
        } else if (sent == 0 || errno != EINTR) {
            return false;
        }
    }
    peer.stuck_ns = 0;
    return true;
}

bool Peers::challenge(Peer& peer, const Channel::Frame& frame) {
    Hello hello;
    if (frame.type != Message::hello || frame.size != sizeof hello) return false;
    std::memcpy(&hello, frame.payload, sizeof hello);
    if (hello.magic != role_.magic) return false;
    hello.node[sizeof hello.node - 1] = '\0';
    safe_name(hello.node, peer.node);
    peer.follower = hello.nonce;
    if (getrandom(peer.leader.bytes, sizeof peer.leader.bytes, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof peer.leader.bytes)) return false;
    const Challenge challenge{peer.leader, settings_.secrets.derive(role_.their_proof, peer.follower, peer.leader)};
    peer.state = Peer::State::proving;
    return post(peer, Message::challenge, &challenge, sizeof challenge);
}

bool Peers::welcome(Peer& peer, const Channel::Frame& frame, const Owner& owner) {
    const auto derive = [&](Secrets::Use use) { return settings_.secrets.derive(use, peer.follower, peer.leader); };
    const Digest expected = derive(role_.our_proof);
    if (frame.type != Message::proof || frame.size != sizeof expected || !same_bytes(expected.bytes, frame.payload, sizeof expected)) return false;
    peer.channel.protect(derive(role_.their_frames), derive(role_.our_frames));
    // The same node again: its old connection is dead, though nobody has told us.
    for (Peer& other : *this)
        if (&other != &peer && other.state >= Peer::State::ready && other.state != Peer::State::done && std::strcmp(other.node, peer.node) == 0) drop(other, &owner);
    peer.state = Peer::State::ready;
    return post(peer, Message::welcome, nullptr, 0);
}

bool Peers::address_of(const Peer& peer, char (&address)[64]) {
    sockaddr_storage place{};
    socklen_t size = sizeof place;
    if (getpeername(peer.socket, reinterpret_cast<sockaddr*>(&place), &size) != 0) return false;
    if (place.ss_family == AF_INET) return inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(place).sin_addr, address, sizeof address) != nullptr;
    if (place.ss_family != AF_INET6) return false;
    const auto& six = reinterpret_cast<const sockaddr_in6&>(place).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&six)) return inet_ntop(AF_INET, six.s6_addr + 12, address, sizeof address) != nullptr;
    return inet_ntop(AF_INET6, &six, address, sizeof address) != nullptr;
}

}  // namespace paced::interposer
