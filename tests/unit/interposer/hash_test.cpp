// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/hash.h"

#include <set>

#include <gtest/gtest.h>

namespace paced::interposer {
namespace {

std::uint64_t hash_of(std::initializer_list<std::uint64_t> numbers) {
    Hash hash;
    for (const std::uint64_t number : numbers) hash.add(number);
    return hash.value();
}

// Nodes of different builds exchange ids: the values themselves are a contract.
TEST(Hash, IsTheSameEverywhere) {
    Hash text;
    text.add_text("session");
    EXPECT_EQ(hash_of({}), UINT64_C(0x7bd3144f29c0cc9e));
    EXPECT_EQ(hash_of({1, 2, 3}), UINT64_C(0x223406beba75a5ee));
    EXPECT_EQ(text.value(), UINT64_C(0xeaf732f0b50036c9));
}

TEST(Hash, TellsOrderAndLengthApart) {
    EXPECT_NE(hash_of({1, 2}), hash_of({2, 1}));
    EXPECT_NE(hash_of({0}), hash_of({0, 0}));
}

TEST(Hash, DoesNotCollideOnSmallGroups) {
    std::set<std::uint64_t> seen;
    std::size_t count = 0;
    for (std::uint64_t first = 0; first < 64; ++first)
        for (std::uint64_t size = 1; size < 64; ++size)
            for (std::uint64_t ordinal = 0; ordinal < 8; ++ordinal, ++count) {
                Hash hash(7);
                hash.add(size);
                for (std::uint64_t i = 0; i < size; ++i) hash.add(first + i);
                hash.add(ordinal);
                seen.insert(hash.value());
            }
    EXPECT_EQ(seen.size(), count);
}

}  // namespace
}  // namespace paced::interposer
