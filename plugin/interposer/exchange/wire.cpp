// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/wire.h"

#include <cstdlib>
#include <cstring>

#include "plugin/interposer/hash.h"

namespace paced::interposer {

Digest Secrets::derive(Use use, const Nonce& follower, const Nonce& leader) const {
    static constexpr char domain[] = "paced-fabric exchange 1";
    Sha256 message = key_.begin();
    message.add(domain, sizeof domain);
    message.add(&use, sizeof use);
    message.add(session_, std::strlen(session_) + 1);
    message.add(follower.bytes, sizeof follower.bytes);
    message.add(leader.bytes, sizeof leader.bytes);
    return key_.finish(message);
}

void Channel::protect(const Digest& out, const Digest& in) {
    out_ = HmacKey(out.bytes, sizeof out.bytes);
    in_ = HmacKey(in.bytes, sizeof in.bytes);
    protected_ = true;
}

Digest Channel::mac(const HmacKey& key, std::uint64_t number, const void* header, const void* payload, std::size_t size) const {
    Sha256 message = key.begin();
    message.add(&number, sizeof number);
    message.add(header, sizeof(FrameHeader));
    message.add(payload, size);
    return key.finish(message);
}

std::size_t Channel::encode(Message type, const void* payload, std::size_t size, std::uint8_t* frame) {
    const FrameHeader header{static_cast<std::uint32_t>(size), type, 0};
    std::memcpy(frame, &header, sizeof header);
    if (size > 0) std::memcpy(frame + sizeof header, payload, size);
    if (!protected_) return sizeof header + size;
    const Digest digest = mac(out_, sent_++, &header, frame + sizeof header, size);
    std::memcpy(frame + sizeof header + size, digest.bytes, mac_size);
    return sizeof header + size + mac_size;
}

Channel::Status Channel::decode(const std::uint8_t* buffer, std::size_t have, Frame& frame) {
    FrameHeader header;
    if (have < sizeof header) return Status::incomplete;
    std::memcpy(&header, buffer, sizeof header);
    if (header.payload_bytes > (protected_ ? payload_limit : early_payload_limit)) return Status::refused;
    const std::size_t whole = sizeof header + header.payload_bytes + (protected_ ? mac_size : 0);
    if (have < whole) return Status::incomplete;
    frame = {header.type, buffer + sizeof header, header.payload_bytes, whole};
    if (protected_) {
        const Digest expected = mac(in_, received_++, buffer, frame.payload, frame.size);
        if (!same_bytes(expected.bytes, frame.payload + frame.size, mac_size)) return Status::refused;
    }
    return Status::complete;
}

std::uint16_t candidate_port(const char* range, const char* session, int attempt) {
    char* behind = nullptr;
    const long first = std::strtol(range, &behind, 10);
    if (behind == range || *behind != '-') return 0;
    const char* const second = behind + 1;
    const long last = std::strtol(second, &behind, 10);
    if (behind == second || *behind != '\0' || first < 1 || last < first || last > 65535) return 0;
    Hash hash;
    hash.add_text(session);
    const auto count = static_cast<std::uint64_t>(last - first + 1);
    return static_cast<std::uint16_t>(static_cast<std::uint64_t>(first) + (hash.value() + static_cast<std::uint64_t>(attempt)) % count);
}

}  // namespace paced::interposer
