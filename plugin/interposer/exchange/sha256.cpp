// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/sha256.h"

#include <bit>
#include <cstring>

namespace paced::interposer {
namespace {

constexpr std::uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const std::uint8_t* bytes) {
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

}  // namespace

Sha256::Sha256() : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::compress(const std::uint8_t* block) {
    std::uint32_t w[64];
    for (int i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
    for (int i = 16; i < 64; ++i) {
        const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
        const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (int i = 0; i < 64; ++i) {
        const std::uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
        const std::uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1;
        d = c, c = b, b = a, a = t1 + t2;
    }
    const std::uint32_t changed[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) state_[i] += changed[i];
}

void Sha256::add(const void* data, std::size_t size) {
    auto* bytes = static_cast<const std::uint8_t*>(data);
    std::size_t filled = total_ % 64;
    total_ += size;
    while (size > 0) {
        if (filled == 0 && size >= 64) {
            compress(bytes);
            bytes += 64, size -= 64;
            continue;
        }
        const std::size_t part = size < 64 - filled ? size : 64 - filled;
        std::memcpy(pending_ + filled, bytes, part);
        bytes += part, size -= part, filled += part;
        if (filled == 64) {
            compress(pending_);
            filled = 0;
        }
    }
}

Digest Sha256::finish() {
    const std::uint64_t bits = total_ * 8;
    const std::uint8_t end[64] = {0x80};
    add(end, 1 + (119 - total_ % 64) % 64);  // to 8 bytes before the end of a block
    std::uint8_t length[8];
    for (int i = 0; i < 8; ++i) length[i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
    add(length, sizeof length);
    Digest digest;
    for (int i = 0; i < 32; ++i) digest.bytes[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
}

HmacKey::HmacKey(const void* key, std::size_t size) {
    std::uint8_t block[64] = {};
    if (size > sizeof block) {
        Sha256 hash;
        hash.add(key, size);
        const Digest digest = hash.finish();
        std::memcpy(block, digest.bytes, sizeof digest.bytes);
    } else {
        std::memcpy(block, key, size);
    }
    for (std::uint8_t& byte : block) byte ^= 0x36;
    inner_.add(block, sizeof block);
    for (std::uint8_t& byte : block) byte ^= 0x36 ^ 0x5c;
    outer_.add(block, sizeof block);
}

Digest HmacKey::finish(Sha256& message) const {
    const Digest inner = message.finish();
    Sha256 outer = outer_;
    outer.add(inner.bytes, sizeof inner.bytes);
    return outer.finish();
}

bool same_bytes(const void* a, const void* b, std::size_t size) {
    const auto *x = static_cast<const volatile std::uint8_t*>(a), *y = static_cast<const volatile std::uint8_t*>(b);
    std::uint8_t different = 0;
    for (std::size_t i = 0; i < size; ++i) different = static_cast<std::uint8_t>(different | (x[i] ^ y[i]));
    return different == 0;
}

}  // namespace paced::interposer
