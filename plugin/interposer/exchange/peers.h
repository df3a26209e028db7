// SPDX-License-Identifier: BSD-3-Clause
// The connections that other nodes have made to this one: the leader's followers, or a node's children in the tree. Each proves itself,
// and is proven to; until then it costs a place for two seconds and 280 bytes. Nothing here waits: a peer that is slow, silent or wrong costs
// itself. One thread.
#pragma once

#include "plugin/interposer/exchange/settings.h"
#include "plugin/interposer/exchange/wire.h"

struct pollfd;

namespace paced::interposer {

struct Peer {
    enum class State : std::uint32_t { free, greeting, proving, ready, offered, sending, done };
    State state;
    int socket;
    std::uint64_t since_ns;  // accepted
    Nonce follower, leader;
    char node[64];  // safe as part of a file's name
    Channel channel;
    // collection, at the leader
    Offer offer;
    int file;
    std::uint64_t stored;
    // pacing
    std::uint32_t child;      // its number in the junction; 0: it is none
    std::uint16_t listening;  // port that it listens on; 0: none
    bool placed;              // in the tree
    std::uint64_t heard_ns, said_ns;  // last summary from, last directives to it
    std::uint32_t summaries;          // a bucket: one in, ten a second out
    // ready to be read, ready to be sent
    std::size_t have, posted, flushed;
    std::uint64_t stuck_ns;   // since when it has not read; 0: it does
    std::uint8_t in[frame_limit];
    std::uint8_t out[2 * frame_limit];
};

class Peers {
public:
    // What the owner does with a frame of a peer that has proven itself; false: drop the peer. And with one that goes.
    struct Owner {
        void* self;
        bool (*frame)(void* self, Peer& peer, const Channel::Frame& frame, std::uint64_t received_ns);
        void (*gone)(void* self, Peer& peer);
    };

    // memory: zeroed, size_of(nodes) bytes. nodes: how many peers there will be, beside strangers.
    static std::size_t size_of(std::uint32_t nodes);
    Peers(const ExchangeSettings& settings, const Role& role, void* memory, std::uint32_t nodes);

    // On the first candidate port that is free, after the first `skip` ones; 0: none was.
    std::uint16_t listen(int skip = 0);
    bool is_listening() const { return listener_ >= 0; }
    void close();  // drops all, without telling the owner

    // Adds what is to be waited for; returns how many. Then, after poll, what has come is handled.
    std::uint32_t add_polled(pollfd* polled, std::uint64_t now_ns, const Owner& owner);
    void handle(const pollfd* polled, std::uint32_t count, const Owner& owner);

    // Takes the frame and sends what goes at once; false: there is no room, since the peer does not read.
    bool post(Peer& peer, Message type, const void* payload, std::size_t size);
    void drop(Peer& peer, const Owner* owner);

    // The places in use, and free ones between them.
    Peer* begin() { return peers_; }
    Peer* end() { return peers_ + high_; }
    pollfd* polled() { return polled_; }
    // The peer's address as a number; false: it has none.
    static bool address_of(const Peer& peer, char (&address)[64]);

private:
    void accept();
    void read_from(Peer& peer, const Owner& owner);
    bool flush(Peer& peer);
    bool challenge(Peer& peer, const Channel::Frame& frame);
    bool welcome(Peer& peer, const Channel::Frame& frame, const Owner& owner);

    const ExchangeSettings& settings_;
    const Role& role_;
    Peer* const peers_;
    const std::uint32_t limit_;
    std::uint32_t high_ = 0;  // places from here on are free
    pollfd* const polled_;
    int listener_ = -1;
};

}  // namespace paced::interposer
