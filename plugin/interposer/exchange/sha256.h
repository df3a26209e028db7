// SPDX-License-Identifier: BSD-3-Clause
// SHA-256 (FIPS 180-4) and HMAC (RFC 2104): own code, since the interposer may load no library into its host. Tested
// against the vectors of FIPS 180-4 and RFC 4231.
#pragma once

#include <cstddef>
#include <cstdint>

namespace paced::interposer {

struct Digest {
    std::uint8_t bytes[32];
};

class Sha256 {
public:
    Sha256();
    void add(const void* data, std::size_t size);
    Digest finish();

private:
    void compress(const std::uint8_t* block);

    std::uint32_t state_[8];
    std::uint64_t total_ = 0;
    std::uint8_t pending_[64];
};

// A key made ready: each message starts from copies of the two hashes that have seen it.
class HmacKey {
public:
    HmacKey() = default;
    HmacKey(const void* key, std::size_t size);

    // One message, fed in pieces: auto mac = key.begin(); mac.add(...); key.finish(mac).
    Sha256 begin() const { return inner_; }
    Digest finish(Sha256& message) const;

private:
    Sha256 inner_, outer_;
};

// In a time that does not depend on where they differ.
bool same_bytes(const void* a, const void* b, std::size_t size);

}  // namespace paced::interposer
