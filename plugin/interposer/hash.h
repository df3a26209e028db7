// SPDX-License-Identifier: BSD-3-Clause
// A 64-bit hash of a few numbers or bytes, the same on every node. Not for secrets: those are HMAC-SHA256's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace paced::interposer {

class Hash {
public:
    explicit constexpr Hash(std::uint64_t seed = 0) { add(seed); }

    constexpr void add(std::uint64_t number) {
        for (int shift = 0; shift < 64; shift += 8) add_byte(static_cast<unsigned char>(number >> shift));
    }
    constexpr void add_bytes(const char* bytes, std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) add_byte(static_cast<unsigned char>(bytes[i]));
    }
    constexpr void add_text(const char* text) {
        while (*text != '\0') add_byte(static_cast<unsigned char>(*text++));
    }
    // Never 0, which means "none" everywhere.
    constexpr std::uint64_t value() const {
        std::uint64_t mixed = state_;
        mixed = (mixed ^ mixed >> 33) * 0xff51'afd7'ed55'8ccd;
        mixed = (mixed ^ mixed >> 33) * 0xc4ce'b9fe'1a85'ec53;
        mixed ^= mixed >> 33;
        return mixed != 0 ? mixed : 1;
    }

private:
    constexpr void add_byte(unsigned char byte) { state_ = (state_ ^ byte) * 0x100'0000'01b3; }  // FNV-1a

    std::uint64_t state_ = 0xcbf2'9ce4'8422'2325;
};

}  // namespace paced::interposer
