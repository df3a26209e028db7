// SPDX-License-Identifier: BSD-3-Clause
// What ranks and the permits' server say to each other over UDP. Every datagram has the same size and carries a MAC of the job key
// and the session, under a key that is used for nothing else: what was not made by a rank of this very step is dropped.
// A datagram that is heard again changes nothing: sequence numbers only grow (policy/pacing/permits.h). Little-endian, as all our
// machines are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugin/interposer/exchange/wire.h"

namespace paced::interposer {

struct PermitMessage {
    enum class Type : std::uint8_t { request = 0x51, done, grant };
    Type type;
    std::uint8_t barrier;    // 0: admit
    std::uint8_t domain;
    std::uint8_t size;       // of the communicator
    std::uint32_t width;
    std::uint64_t communicator;
    std::uint64_t sequence;
    std::uint64_t members;   // bit r: rank r
    std::uint64_t longest_ns;
};
// With the MAC's padding one block of SHA-256: half of what the MAC costs.
static_assert(sizeof(PermitMessage) == 40);
inline constexpr std::size_t permit_datagram = sizeof(PermitMessage) + mac_size;

class PermitKey {
public:
    PermitKey() = default;
    explicit PermitKey(const Secrets& secrets);

    void seal(const PermitMessage& message, std::uint8_t (&datagram)[permit_datagram]) const;
    // false: not one of ours.
    bool open(const std::uint8_t* datagram, std::size_t size, PermitMessage& message) const;

private:
    HmacKey key_;
};

}  // namespace paced::interposer
