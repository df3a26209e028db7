// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/sha256.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace paced::interposer {
namespace {

std::string hex(const Digest& digest) {
    std::string text;
    for (const std::uint8_t byte : digest.bytes) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

std::string sha256(const std::string& message) {
    Sha256 hash;
    hash.add(message.data(), message.size());
    return hex(hash.finish());
}

std::string hmac(const std::string& key, const std::string& message) {
    const HmacKey ready(key.data(), key.size());
    Sha256 hash = ready.begin();
    hash.add(message.data(), message.size());
    return hex(ready.finish(hash));
}

// FIPS 180-4 examples (NIST, "Secure Hash Standard: examples with intermediate values").
TEST(Sha256, Fips) {
    EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesMakeTheSameAsTheWhole) {
    std::string message;
    for (int i = 0; i < 300; ++i) message += static_cast<char>(i * 7);
    for (std::size_t length = 0; length <= message.size(); ++length)
        for (const std::size_t piece : {std::size_t{1}, std::size_t{13}, std::size_t{64}}) {
            Sha256 hash;
            for (std::size_t at = 0; at < length; at += piece) hash.add(message.data() + at, std::min(piece, length - at));
            ASSERT_EQ(hex(hash.finish()), sha256(message.substr(0, length))) << length << " in pieces of " << piece;
        }
}

// RFC 4231, test cases 1 to 4, 6 and 7 (5 truncates).
TEST(Hmac, Rfc4231) {
    EXPECT_EQ(hmac(std::string(20, '\x0b'), "Hi There"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hmac("Jefe", "what do ya want for nothing?"), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(hmac(std::string(20, '\xaa'), std::string(50, '\xdd')), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    std::string counting;
    for (char c = 1; c <= 25; ++c) counting += c;
    EXPECT_EQ(hmac(counting, std::string(50, '\xcd')), "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
    EXPECT_EQ(hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    EXPECT_EQ(hmac(std::string(131, '\xaa'), "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm."),
              "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST(Hmac, ComparesAllBytes) {
    const std::uint8_t a[] = {1, 2, 3}, b[] = {1, 2, 4};
    EXPECT_TRUE(same_bytes(a, a, 3));
    EXPECT_FALSE(same_bytes(a, b, 3));
    EXPECT_TRUE(same_bytes(a, b, 2));
}

}  // namespace
}  // namespace paced::interposer
