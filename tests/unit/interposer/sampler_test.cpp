// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/sampler.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace paced::interposer {
namespace {

// One rank: its slot, and which of the job's communicators it is in.
class SampledRank {
public:
    explicit SampledRank(std::vector<int> communicators) : names_(std::move(communicators)) {
        for (std::size_t i = 0; i < names_.size(); ++i) slot_->communicators[i].stride = 1;
    }
    bool is_in(int name) const { return std::ranges::count(names_, name) == 1; }
    // The next block of calls on this communicator begins.
    void advance(int name) { Sampler(slot_.get()).open(index_of(name), next_[name]++); }
    std::uint64_t begun(int name) const { return next_.contains(name) ? next_.at(name) : 0; }
    std::uint64_t stride(int name) const { return slot_->communicators[index_of(name)].stride; }
    std::set<std::uint64_t> kept(int name) const {
        std::set<std::uint64_t> blocks;
        for (const std::uint64_t owner : slot_->owners)
            if (owner != 0 && segment::communicator_of(owner) == index_of(name)) blocks.insert(segment::block_of(owner));
        return blocks;
    }
    std::size_t owned() const { return static_cast<std::size_t>(std::ranges::count_if(slot_->owners, [](auto owner) { return owner != 0; })); }

private:
    std::uint32_t index_of(int name) const { return static_cast<std::uint32_t>(std::ranges::find(names_, name) - names_.begin()); }

    std::vector<int> names_;
    std::map<int, std::uint64_t> next_;
    std::unique_ptr<segment::Slot> slot_ = std::make_unique<segment::Slot>();
};

std::set<std::uint64_t> multiples(std::uint64_t stride, std::uint64_t below) {
    std::set<std::uint64_t> blocks;
    for (std::uint64_t block = 0; block < below; block += stride) blocks.insert(block);
    return blocks;
}

TEST(Sampler, KeepsAllWhileThereIsRoom) {
    SampledRank rank({0});
    for (int i = 0; i < 64; ++i) rank.advance(0);
    EXPECT_EQ(rank.kept(0), multiples(1, 64));
    EXPECT_EQ(rank.stride(0), 1u);
}

TEST(Sampler, DoublesWhenFull) {
    SampledRank rank({0});
    for (int i = 0; i < 65; ++i) rank.advance(0);
    EXPECT_EQ(rank.stride(0), 2u);
    EXPECT_EQ(rank.kept(0), multiples(2, 65));
    for (int i = 65; i < 1000; ++i) rank.advance(0);
    EXPECT_EQ(rank.stride(0), 16u);
    EXPECT_EQ(rank.kept(0), multiples(16, 1000));
}

TEST(Sampler, WhoeverOwnsMostGivesWay) {
    SampledRank rank({0, 1});
    for (int i = 0; i < 60; ++i) rank.advance(0);
    for (int i = 0; i < 5; ++i) rank.advance(1);
    EXPECT_EQ(rank.stride(0), 2u);
    EXPECT_EQ(rank.stride(1), 1u);
    EXPECT_EQ(rank.kept(1), multiples(1, 5));
}

TEST(Sampler, EveryCommunicatorHasItsFirstBlock) {
    std::vector<int> names(64);
    for (int i = 0; i < 64; ++i) names[static_cast<std::size_t>(i)] = i;
    SampledRank rank(names);
    for (int block = 0; block < 10; ++block)
        for (const int name : names) rank.advance(name);
    for (const int name : names) EXPECT_EQ(rank.kept(name), multiples(1, 1)) << name;
}

TEST(Sampler, KeepsNothingWithoutStride) {
    segment::Slot* const slot = new segment::Slot{};
    EXPECT_EQ(Sampler(slot).open(0, 0), -1);
    delete slot;
}

TEST(Sampler, OpensZeroedBlocks) {
    const auto slot = std::make_unique<segment::Slot>();
    slot->communicators[0].stride = 1;
    std::memset(static_cast<void*>(slot->blocks), 0xff, sizeof slot->blocks);
    const int place = Sampler(slot.get()).open(0, 0);
    ASSERT_GE(place, 0);
    for (const auto& record : slot->blocks[place]) EXPECT_EQ(record.arrival_ns, 0u);
}

// Any ranks with any communicators, each going its own way through the calls: what two members of a communicator both
// keep of the blocks that both have begun is exactly the multiples of the larger stride.
TEST(Sampler, CommonBlocksAreTheMultiplesOfTheLargestStride) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](unsigned limit) { return random() % limit; };
        const int communicators = static_cast<int>(1 + below(12));
        std::vector<SampledRank> ranks;
        for (int r = 0; r < 4; ++r) {
            std::vector<int> names;
            for (int name = 0; name < communicators; ++name)
                if (below(3) > 0) names.push_back(name);
            if (names.empty()) names.push_back(0);
            std::ranges::shuffle(names, random);
            ranks.emplace_back(names);
        }
        // How often each communicator is used differs widely; ranks run apart by as much as they like.
        std::vector<unsigned> weight;
        for (int name = 0; name < communicators; ++name) weight.push_back(1u << below(8));
        for (int step = 0; step < 2000; ++step) {
            SampledRank& rank = ranks[below(4)];
            const int name = static_cast<int>(below(static_cast<unsigned>(communicators)));
            if (!rank.is_in(name)) continue;
            for (unsigned i = 0; i < weight[static_cast<std::size_t>(name)] && i < 20; ++i) rank.advance(name);
        }
        for (int name = 0; name < communicators; ++name) {
            std::uint64_t stride = 1, begun = ~std::uint64_t{0};
            std::vector<const SampledRank*> members;
            for (const SampledRank& rank : ranks)
                if (rank.is_in(name)) {
                    members.push_back(&rank);
                    stride = std::max(stride, rank.stride(name));
                    begun = std::min(begun, rank.begun(name));
                }
            if (members.empty()) continue;
            std::set<std::uint64_t> common = multiples(1, begun);
            for (const SampledRank* member : members) {
                const auto kept = member->kept(name);
                std::set<std::uint64_t> both;
                std::ranges::set_intersection(common, kept, std::inserter(both, both.end()));
                common = both;
                EXPECT_LE(member->owned(), segment::block_limit);
            }
            ASSERT_EQ(common, multiples(stride, begun)) << "seed " << seed << " communicator " << name;
        }
    }
}

}  // namespace
}  // namespace paced::interposer
