// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/leader.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "plugin/interposer/exchange/socket.h"
#include "plugin/interposer/exchange/tree.h"
#include "plugin/interposer/shared.h"
#include "policy/io/segment.h"

namespace paced::interposer {

Leader::Leader(const ExchangeSettings& settings, void* peers, int wake, const bool& stopping, Branch* branch, Decider* decider)
    : settings_(settings),
      peers_(settings, to_leader, peers, settings.nodes),
      owner_{this,
             [](void* self, Peer& peer, const Channel::Frame& frame, std::uint64_t received_ns) { return static_cast<Leader*>(self)->answer(peer, frame, received_ns); },
             [](void* self, Peer& peer) { static_cast<Leader*>(self)->gone(peer); }},
      wake_(wake),
      stopping_(stopping),
      branch_(branch),
      decider_(decider) {}

bool Leader::listen() {
    if (settings_.nodes < 2) return true;
    const std::uint16_t port = peers_.listen();
    // ranks ask for permits at the same number; nobody answers there if it is taken, and then they soon ask no more
    if (port != 0 && branch_ != nullptr && permits_.open(settings_.secrets, port) && permits_.start()) branch_->set_permits_port(port);
    return port != 0;
}

void Leader::run() {
    folder_ = high_descriptor(open(settings_.run_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (branch_ != nullptr) {
        branch_->begin();
        decider_->begin(folder_, now_ns());
    }
    for (;;) {
        const std::uint64_t now = now_ns();
        if (stopped_ns_ == 0 && load_acquire(stopping_)) {
            stopped_ns_ = now;
            if (decider_ != nullptr) decider_->end(now);
        }
        int timeout_ms = 1000;
        if (stopped_ns_ != 0) {
            if (missing() == 0 || now > stopped_ns_ + exchange_limit_ns) break;
            if (!collecting_ && is_ready_to_collect()) collect();
            timeout_ms = 10;
        } else if (branch_ != nullptr) {
            pace(now);
            const std::uint64_t next = branch_->next_look_ns(), behind = now_ns();
            timeout_ms = next > behind ? static_cast<int>((next - behind + 999'999) / 1'000'000) : 0;
        }
        pollfd* const polled = peers_.polled();
        polled[0] = {stopped_ns_ == 0 ? wake_ : -1, POLLIN, 0};
        const std::uint32_t count = peers_.add_polled(polled + 1, now, owner_);
        if (poll(polled, count + 1, timeout_ms) > 0) peers_.handle(polled + 1, count, owner_);
    }
    permits_.stop();
    for (Peer& peer : peers_) peers_.drop(peer, &owner_);
    peers_.close();
    if (folder_ >= 0) close(folder_);
}

void Leader::pace(std::uint64_t now) {
    branch_->look(now);
    if (branch_->is_off() && !own_faulted_) decider_->fault("what the ranks of the first node show makes no sense, pacing went off", now);
    own_faulted_ = branch_->is_off();
    branch_->drop_silent(peers_, owner_, now);
    if (settings_.has_tree() && !tree_made_ && waiting_ + 1 >= settings_.nodes) make_tree();
    decider_->decide(now);
    branch_->apply();
    branch_->tell_children(peers_, owner_, now);
}

// Once, when all followers have come: a follower that is missing would not be paced, nor would anybody with it. Nodes that
// cannot listen become leaves of the tree.
void Leader::make_tree() {
    tree_made_ = true;
    std::uint32_t numbered = 0;  // the leader is 0
    const std::uint32_t inner = (settings_.nodes - 2) / settings_.arity;  // numbers 1 to inner have children
    Peer* inner_peers[4096 / 2];
    for (int round = 0; round < 2; ++round) {
        const bool listens = round == 0;
        for (Peer& peer : peers_) {
            if (peer.state != Peer::State::ready || (peer.listening != 0) != listens || !peer.placed) continue;
            const std::uint32_t index = ++numbered;
            if (index <= inner) {
                if (!listens) return decider_->fault("too few nodes have a free port for the tree of nodes, nothing was paced", now_ns());
                inner_peers[index - 1] = &peer;
            }
            Adopt adopt{};
            adopt.children = static_cast<std::uint16_t>(children_of(index, settings_.arity, settings_.nodes));
            if (const std::uint32_t parent = parent_of(index, settings_.arity); parent != 0) {
                adopt.port = inner_peers[parent - 1]->listening;
                if (!Peers::address_of(*inner_peers[parent - 1], adopt.address)) adopt.port = 0;
            }
            if (!peers_.post(peer, Message::adopt, &adopt, sizeof adopt)) peers_.drop(peer, &owner_);
        }
    }
    decider_->set_depth(depth_of(settings_.nodes, settings_.arity));
}

void Leader::gone(Peer& peer) {
    if (branch_ != nullptr) {
        if (peer.placed && !tree_made_) --waiting_;
        if (branch_->child_gone(peer) && stopped_ns_ == 0) {
            char text[120];
            std::snprintf(text, sizeof text, "node %s was lost, pacing went off", peer.node);
            decider_->fault(text, now_ns());
        }
    }
    if (peer.file < 0) return;
    char name[96];
    std::snprintf(name, sizeof name, ".node-%s.tmp", peer.node);
    unlinkat(folder_, name, 0);
    close(peer.file);
    stored_ -= peer.stored;
    peer.file = -1;
}

bool Leader::answer(Peer& peer, const Channel::Frame& frame, std::uint64_t received_ns) {
    using State = Peer::State;
    if (frame.type == Message::ping && frame.size == sizeof(std::uint64_t)) {
        Pong pong{0, received_ns, 0};
        std::memcpy(&pong.t1, frame.payload, sizeof pong.t1);
        pong.t3 = now_ns();
        return peers_.post(peer, Message::pong, &pong, sizeof pong);
    }
    if (peer.state == State::ready && frame.type == Message::offer && frame.size == sizeof peer.offer) {
        std::memcpy(&peer.offer, frame.payload, sizeof peer.offer);
        peer.state = State::offered;
        if (collecting_) collect();  // late, but not too late
        return true;
    }
    if (peer.state == State::sending && frame.type == Message::chunk) return store_chunk(peer, frame);
    if (peer.state == State::sending && frame.type == Message::end) return complete(peer, frame);
    if (branch_ == nullptr || peer.state != State::ready) return false;
    if (frame.type == Message::summary) return stopped_ns_ != 0 || branch_->hear_summary(peer, frame, received_ns);
    if (frame.type == Message::listening && frame.size == sizeof peer.listening && settings_.has_tree()) {
        if (peer.placed || tree_made_) return true;
        std::memcpy(&peer.listening, frame.payload, sizeof peer.listening);
        peer.placed = true;
        ++waiting_;
        return true;
    }
    return false;
}

bool Leader::is_ready_to_collect() {
    std::uint32_t offered = 0;
    for (const Peer& peer : peers_) offered += peer.state == Peer::State::offered ? 1 : 0;
    return offered == settings_.nodes - 1 || now_ns() > stopped_ns_ + local_ranks_limit_ns + 500'000'000;
}

// Asks for the dumps, all with the same coarsening, so that the nodes' blocks still match one another.
void Leader::collect() {
    if (!collecting_) {
        for (coarsening_ = 0; coarsening_ + 1 < coarsening_limit; ++coarsening_) {
            std::uint64_t total = 0;
            for (const Peer& peer : peers_)
                if (peer.state == Peer::State::offered) total += peer.offer.bytes[coarsening_];
            if (total <= dumps_limit_bytes) break;
        }
        collecting_ = true;
    }
    for (Peer& peer : peers_) {
        if (peer.state != Peer::State::offered) continue;
        peer.state = Peer::State::sending;
        if (!peers_.post(peer, Message::collect, &coarsening_, sizeof coarsening_)) peers_.drop(peer, &owner_);
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
    return peers_.post(peer, Message::done, nullptr, 0);
}

}  // namespace paced::interposer
