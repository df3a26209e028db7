// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/leader.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugin/interposer/exchange/socket.h"
#include "plugin/interposer/shared.h"
#include "policy/io/segment.h"

namespace paced::interposer {
namespace {

constexpr std::uint64_t greeting_limit_ns = 2'000'000'000;
// Connections that have not proven anything yet, beside the followers: a port scanner must not fill the table.
constexpr std::uint32_t strangers_limit = 16;

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

}  // namespace

struct Leader::Peer {
    enum class State : std::uint32_t { free, greeting, proving, ready, offered, sending, done };
    State state;
    int socket;
    std::uint64_t since_ns;
    Nonce follower, leader;
    char node[64];  // safe
    Channel channel;
    Offer offer;
    int file;
    std::uint64_t stored;
    std::size_t have;
    std::uint8_t in[frame_limit];
};

std::size_t Leader::peers_size(std::uint32_t nodes) { return (nodes + strangers_limit) * (sizeof(Peer) + sizeof(pollfd)) + 3 * sizeof(pollfd); }

Leader::Leader(const ExchangeSettings& settings, void* peers, int wake, const bool& stopping)
    : settings_(settings), peers_(static_cast<Peer*>(peers)), peer_limit_(settings.nodes + strangers_limit), wake_(wake), stopping_(stopping) {}

bool Leader::listen() {
    for (int attempt = 0; attempt < port_attempts && listener_ < 0; ++attempt) listener_ = listen_on(candidate_port(settings_.ports, settings_.session, attempt));
    return listener_ >= 0;
}

void Leader::run() {
    folder_ = high_descriptor(open(settings_.run_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    auto* const polled = reinterpret_cast<pollfd*>(peers_ + peer_limit_);
    for (;;) {
        if (stopped_ns_ == 0 && load_acquire(stopping_)) stopped_ns_ = now_ns();
        const std::uint64_t now = now_ns();
        if (stopped_ns_ != 0) {
            if (missing() == 0 || now > stopped_ns_ + exchange_limit_ns) break;
            if (!collecting_ && is_ready_to_collect()) collect();
        }
        nfds_t count = 0;
        polled[count++] = {listener_, POLLIN, 0};
        if (stopped_ns_ == 0) polled[count++] = {wake_, POLLIN, 0};
        const nfds_t first = count;
        for (std::uint32_t i = 0; i < peer_limit_; ++i) {
            Peer& peer = peers_[i];
            if ((peer.state == Peer::State::greeting || peer.state == Peer::State::proving) && now > peer.since_ns + greeting_limit_ns) drop(peer);
            if (peer.state != Peer::State::free) polled[count++] = {peer.socket, POLLIN, 0};
        }
        const int ready = poll(polled, count, stopped_ns_ != 0 ? 10 : 1000);
        if (ready <= 0) continue;
        for (nfds_t place = first, i = 0; i < peer_limit_ && place < count; ++i) {
            Peer& peer = peers_[i];
            if (peer.state == Peer::State::free || peer.socket != polled[place].fd) continue;
            if (polled[place++].revents != 0) read_from(peer);
        }
        if (polled[0].revents != 0) accept();
    }
    for (std::uint32_t i = 0; i < peer_limit_; ++i) drop(peers_[i]);
    close(listener_);
    if (folder_ >= 0) close(folder_);
}

void Leader::accept() {
    const int socket = accept_on(listener_);
    if (socket < 0) return;
    std::uint32_t strangers = 0;
    Peer* place = nullptr;
    for (std::uint32_t i = 0; i < peer_limit_; ++i) {
        const Peer::State state = peers_[i].state;
        strangers += state == Peer::State::greeting || state == Peer::State::proving ? 1 : 0;
        if (state == Peer::State::free && place == nullptr) place = &peers_[i];
    }
    // at the start of a job all followers are strangers at once
    if (place == nullptr || strangers >= settings_.nodes + strangers_limit) {
        close(socket);
        return;
    }
    place->state = Peer::State::greeting;
    place->socket = socket;
    place->since_ns = now_ns();
    place->channel = Channel();
    place->file = -1;
    place->have = 0;
    place->stored = 0;
}

void Leader::drop(Peer& peer) {
    if (peer.state == Peer::State::free) return;
    close(peer.socket);
    if (peer.file >= 0) {
        char name[96];
        std::snprintf(name, sizeof name, ".node-%s.tmp", peer.node);
        unlinkat(folder_, name, 0);
        close(peer.file);
        stored_ -= peer.stored;
        peer.file = -1;
    }
    peer.state = Peer::State::free;
}

void Leader::read_from(Peer& peer) {
    const ssize_t got = recv(peer.socket, peer.in + peer.have, sizeof peer.in - peer.have, 0);
    const std::uint64_t received_ns = now_ns();
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return drop(peer);
    peer.have += static_cast<std::size_t>(got);
    for (;;) {
        Channel::Frame frame;
        const Channel::Status status = peer.channel.decode(peer.in, peer.have, frame);
        if (status == Channel::Status::incomplete) return;
        if (status == Channel::Status::refused || !answer(peer, frame, received_ns)) return drop(peer);
        peer.have -= frame.whole;
        std::memmove(peer.in, peer.in + frame.whole, peer.have);
    }
}

bool Leader::reply(Peer& peer, Message type, const void* payload, std::size_t size) {
    // Answers are small: a peer whose receive buffer is full does not read, and is dropped rather than waited for.
    const std::size_t whole = peer.channel.encode(type, payload, size, out_);
    return send(peer.socket, out_, whole, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(whole);
}

bool Leader::answer(Peer& peer, const Channel::Frame& frame, std::uint64_t received_ns) {
    using State = Peer::State;
    if (peer.state == State::greeting) {
        Hello hello;
        if (frame.type != Message::hello || frame.size != sizeof hello) return false;
        std::memcpy(&hello, frame.payload, sizeof hello);
        if (hello.magic != hello_magic) return false;
        hello.node[sizeof hello.node - 1] = '\0';
        safe_name(hello.node, peer.node);
        peer.follower = hello.nonce;
        if (getrandom(peer.leader.bytes, sizeof peer.leader.bytes, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof peer.leader.bytes)) return false;
        const Challenge challenge{peer.leader, settings_.secrets.derive(Secrets::Use::proof_of_leader, peer.follower, peer.leader)};
        peer.state = State::proving;
        return reply(peer, Message::challenge, &challenge, sizeof challenge);
    }
    if (peer.state == State::proving) return welcome(peer, frame);
    if (frame.type == Message::ping && frame.size == sizeof(std::uint64_t)) {
        Pong pong{0, received_ns, 0};
        std::memcpy(&pong.t1, frame.payload, sizeof pong.t1);
        pong.t3 = now_ns();
        return reply(peer, Message::pong, &pong, sizeof pong);
    }
    if (peer.state == State::ready && frame.type == Message::offer && frame.size == sizeof peer.offer) {
        std::memcpy(&peer.offer, frame.payload, sizeof peer.offer);
        peer.state = State::offered;
        if (collecting_) collect();  // late, but not too late
        return true;
    }
    if (peer.state == State::sending && frame.type == Message::chunk) return store_chunk(peer, frame);
    if (peer.state == State::sending && frame.type == Message::end) return complete(peer, frame);
    return false;
}

bool Leader::welcome(Peer& peer, const Channel::Frame& frame) {
    const auto derive = [&](Secrets::Use use) { return settings_.secrets.derive(use, peer.follower, peer.leader); };
    const Digest expected = derive(Secrets::Use::proof_of_follower);
    if (frame.type != Message::proof || frame.size != sizeof expected || !same_bytes(expected.bytes, frame.payload, sizeof expected)) return false;
    peer.channel.protect(derive(Secrets::Use::frames_of_leader), derive(Secrets::Use::frames_of_follower));
    // The same node again: its old connection is dead, though nobody has told us.
    for (std::uint32_t i = 0; i < peer_limit_; ++i) {
        Peer& other = peers_[i];
        if (&other != &peer && other.state >= Peer::State::ready && other.state != Peer::State::done && std::strcmp(other.node, peer.node) == 0) drop(other);
    }
    peer.state = Peer::State::ready;
    return reply(peer, Message::welcome, nullptr, 0);
}

bool Leader::is_ready_to_collect() const {
    std::uint32_t offered = 0;
    for (std::uint32_t i = 0; i < peer_limit_; ++i) offered += peers_[i].state == Peer::State::offered ? 1 : 0;
    return offered == settings_.nodes - 1 || now_ns() > stopped_ns_ + local_ranks_limit_ns + 500'000'000;
}

// Asks for the dumps, all with the same coarsening, so that the nodes' blocks still match one another.
void Leader::collect() {
    if (!collecting_) {
        for (coarsening_ = 0; coarsening_ + 1 < coarsening_limit; ++coarsening_) {
            std::uint64_t total = 0;
            for (std::uint32_t i = 0; i < peer_limit_; ++i)
                if (peers_[i].state == Peer::State::offered) total += peers_[i].offer.bytes[coarsening_];
            if (total <= dumps_limit_bytes) break;
        }
        collecting_ = true;
    }
    for (std::uint32_t i = 0; i < peer_limit_; ++i) {
        Peer& peer = peers_[i];
        if (peer.state != Peer::State::offered) continue;
        peer.state = Peer::State::sending;
        if (!reply(peer, Message::collect, &coarsening_, sizeof coarsening_)) drop(peer);
    }
}

bool Leader::store_chunk(Peer& peer, const Channel::Frame& frame) {
    if (stored_ + frame.size > dumps_limit_bytes + (dumps_limit_bytes >> 3)) return false;
    if (peer.file < 0) {
        char name[96];
        std::snprintf(name, sizeof name, ".node-%s.tmp", peer.node);
        unlinkat(folder_, name, 0);
        peer.file = high_descriptor(openat(folder_, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (peer.file < 0) return false;
    }
    if (pwrite(peer.file, frame.payload, frame.size, static_cast<off_t>(peer.stored)) != static_cast<ssize_t>(frame.size)) return false;
    peer.stored += frame.size;
    stored_ += frame.size;
    return true;
}

bool Leader::complete(Peer& peer, const Channel::Frame& frame) {
    std::uint64_t total = 0;
    if (peer.file < 0 || frame.size != sizeof total) return false;
    std::memcpy(&total, frame.payload, sizeof total);
    if (total != peer.stored || total < sizeof(segment::DumpHeader)) return false;
    if (pwrite(peer.file, &total, sizeof total, offsetof(segment::DumpHeader, total_bytes)) != static_cast<ssize_t>(sizeof total)) return false;
    char temporary[96], name[96];
    std::snprintf(temporary, sizeof temporary, ".node-%s.tmp", peer.node);
    std::snprintf(name, sizeof name, "node-%s.dump", peer.node);
    if (renameat(folder_, temporary, folder_, name) != 0) return false;
    close(peer.file);
    peer.file = -1;
    peer.state = Peer::State::done;
    ++delivered_;
    return reply(peer, Message::done, nullptr, 0);
}

}  // namespace paced::interposer
