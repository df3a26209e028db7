// SPDX-License-Identifier: BSD-3-Clause
// What the agents of two nodes say to each other over TCP.
//
//     follower                     leader
//     hello {nonce, node}     ->
//                             <-   challenge {nonce, proof}      proof: HMAC of the job key over role, session and
//     proof {proof}           ->                                 both nonces; each side proves itself to the other
//                             <-   welcome
//     ping {t1}               ->                                 every 2 s a burst; the clocks' offset
//                             <-   pong {t1, t2, t3}
//     offer {sizes}           ->                                 after MPI_Finalize: what a dump would take
//                             <-   collect {coarsening}
//     chunk ... chunk, end    ->
//                             <-   done
//
// Under `pace`, on the same connection:
//
//     summary                 ->                                 at most one in 100 ms, at least one a second
//                             <-   directives                    likewise
//
// With more than 64 nodes summaries and directives go along a tree instead. Every follower listens as the leader does, and says
// where; when all nodes have come the leader makes a tree of them; and a node greets its parent as it has greeted the leader,
// under proofs and keys of their own (Role), so that neither can be taken for the other.
//
//     listening {port}        ->
//                             <-   adopt {address, port, children}
//
// A frame: length and type, payload, and from welcome on a 16-byte MAC under a key of this connection and direction,
// over a running number too, so that nothing can be altered, repeated or left out. Numbers are little-endian, as all our
// machines are. A peer that breaks a rule is dropped.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugin/interposer/exchange/sha256.h"

namespace paced::interposer {

enum class Message : std::uint16_t { hello = 1, challenge, proof, welcome, ping, pong, offer, collect, chunk, end, done, summary, directives, listening, adopt };

inline constexpr std::size_t payload_limit = 16384;
inline constexpr std::size_t early_payload_limit = 256;  // before the peer has proven itself
inline constexpr std::size_t mac_size = 16;

struct FrameHeader {
    std::uint32_t payload_bytes;
    Message type;
    std::uint16_t reserved;
};
static_assert(sizeof(FrameHeader) == 8);
inline constexpr std::size_t frame_limit = sizeof(FrameHeader) + payload_limit + mac_size;

inline constexpr std::uint64_t hello_magic = 0x314f4c48'44434150;   // "PACDHLO1", to the leader
inline constexpr std::uint64_t parent_magic = 0x31545250'44434150;  // "PACDPRT1", to a parent in the tree
struct Nonce {
    std::uint8_t bytes[32];
};
struct Hello {
    std::uint64_t magic;
    Nonce nonce;
    char node[64];
};
struct Challenge {
    Nonce nonce;
    Digest proof;
};
struct Pong {
    std::uint64_t t1, t2, t3;
};
inline constexpr int coarsening_limit = 16;
struct Offer {
    std::uint64_t bytes[coarsening_limit];  // of the dump if only blocks that are multiples of 2^k are sent
};

// Behind the head of a summary: Progress[progresses], BlockSummary[blocks]; it is as long as that, or refused. Everything of
// pacing is state, so that a message that is left out costs a tenth of a second, but blocks: each is sent once.
struct SummaryHead {
    std::uint32_t nodes;       // that this speaks for: the sender and those below it
    std::uint32_t progresses;
    std::uint32_t blocks;
    std::uint32_t flags;       // SummaryFlag
    std::uint64_t retransmissions;  // since the job began, all these nodes
    std::uint64_t messages, bytes;  // about pacing, that these nodes have sent
};
static_assert(sizeof(SummaryHead) == 40);
enum SummaryFlag : std::uint32_t {
    summary_tcp = 1,               // a rank has found fabric sockets
    summary_pays_for_waiting = 2,  // more ranks than CPUs, on one of the nodes
    summary_lost = 4,              // a node below was lost
    summary_ending = 8,            // the sender's program ends: its silence from now on is no fault
};
// Directive[count] behind it; none: a sign of life.
struct DirectivesHead {
    std::uint32_t count;
    std::uint32_t reserved;
};
struct Adopt {
    char address[64];        // numeric; "": the leader itself is the parent
    std::uint16_t port;
    std::uint16_t children;  // that will come to this node
    std::uint32_t reserved;
};
static_assert(sizeof(Adopt) == 72);

// The job key, and the proofs and keys made from it. session is bound into every one: a peer of another step that was
// given the same key proves nothing. (The stamp is not: Hydra's differs from node to node.)
class Secrets {
public:
    Secrets() = default;
    Secrets(const std::uint8_t (&job_key)[32], const char* session) : key_(job_key, sizeof job_key), session_(session) {}

    enum class Use : std::uint8_t {
        proof_of_leader, proof_of_follower, frames_of_leader, frames_of_follower,  // with the leader
        proof_of_parent, proof_of_child, frames_of_parent, frames_of_child,        // with a parent in the tree
        permits,                                                                   // datagrams (permit_wire.h)
    };
    Digest derive(Use use, const Nonce& follower, const Nonce& leader) const;

private:
    HmacKey key_;
    const char* session_ = "";
};

// What a connection is for: the accepting side's and the connecting side's uses of the key.
struct Role {
    std::uint64_t magic;
    Secrets::Use their_proof, our_proof, their_frames, our_frames;  // "they" accept, "we" connect
};
inline constexpr Role to_leader{hello_magic, Secrets::Use::proof_of_leader, Secrets::Use::proof_of_follower, Secrets::Use::frames_of_leader,
                                Secrets::Use::frames_of_follower};
inline constexpr Role to_parent{parent_magic, Secrets::Use::proof_of_parent, Secrets::Use::proof_of_child, Secrets::Use::frames_of_parent,
                                Secrets::Use::frames_of_child};

// One direction's or both directions' state of a connection.
class Channel {
public:
    // From now on frames carry a MAC.
    void protect(const Digest& out, const Digest& in);

    // Writes a frame of at most frame_limit bytes; returns its size.
    std::size_t encode(Message type, const void* payload, std::size_t size, std::uint8_t* frame);

    struct Frame {
        Message type;
        const std::uint8_t* payload;
        std::size_t size;   // of the payload
        std::size_t whole;  // of the frame in the buffer
    };
    enum class Status { incomplete, complete, refused };
    Status decode(const std::uint8_t* buffer, std::size_t have, Frame& frame);

private:
    Digest mac(const HmacKey& key, std::uint64_t number, const void* header, const void* payload, std::size_t size) const;

    bool protected_ = false;
    HmacKey out_, in_;
    std::uint64_t sent_ = 0, received_ = 0;
};

// The ports that leader and followers try, in their order: attempt 0, 1, ... of first-last, by the session's name.
// 0: the range is none.
std::uint16_t candidate_port(const char* range, const char* session, int attempt);
inline constexpr int port_attempts = 16;

}  // namespace paced::interposer
