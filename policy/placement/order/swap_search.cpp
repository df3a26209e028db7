// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/order/swap_search.h"

#include <algorithm>
#include <utility>

#include "policy/placement/order/fixed_random.h"

namespace paced::placement {

namespace {

// The change of the cut by a swap, by the highest level on which an edge's ends part: entry i is that of edges which part on
// level i and on all below, but not above. The cost of level k is the sum of entries 0 to k, so the first entry that is not
// zero decides which of two changes is better, as it does for costs.
using Change = std::vector<long long>;

constexpr std::size_t most_partners = 64;  // tried in one leaf for one position

class Search {
public:
    Search(const FabricGroups& groups, const PositionGraph& graph, LeafSequence sequence, long long swaps)
        : graph_(graph),
          at_(std::move(sequence)),
          levels_(groups.levels.size()),
          budget_(swaps),
          members_(groups.leaves.size()),
          slot_(at_.size()) {
        path_.resize(members_.size() * levels_);
        for (std::size_t leaf = 0; leaf < members_.size(); ++leaf)
            for (std::size_t k = 0; k < levels_; ++k) path_[leaf * levels_ + k] = groups.levels[k].of_leaf[leaf];
        for (Position i = 0; i < at_.size(); ++i) {
            slot_[i] = static_cast<Position>(members_[at_[i]].size());
            members_[at_[i]].push_back(i);
        }
        queued_.assign(at_.size(), false);
        half_.resize(levels_ + 1);
        best_.resize(levels_ + 1);
        change_.resize(levels_ + 1);
        total_.assign(levels_ + 1, 0);
    }

    LeafSequence run() {
        for (Position i = 1; i < at_.size(); ++i) enqueue(i);
        settle();
        shake_until_spent();
        return std::move(at_);
    }

private:
    // The highest level on which two leaves part; levels_ for a leaf and itself.
    std::size_t parting(Leaf a, Leaf b) const {
        if (a == b) return levels_;
        const Group *left = &path_[a * levels_], *right = &path_[b * levels_];
        std::size_t k = 0;
        while (left[k] == right[k]) ++k;
        return k;
    }

    // What moving a position to another leaf changes, not counting its edge to the partner: that one stays as it is.
    void add_move(Position from, Leaf to, Position partner, Change& change) const {
        const Leaf here = at_[from];
        for (const auto& edge : graph_.edges(from)) {
            if (edge.to == partner) continue;
            change[parting(here, at_[edge.to])] -= edge.weight;
            change[parting(to, at_[edge.to])] += edge.weight;
        }
    }

    // Smaller than another change: entries up to levels_ - 1 count, the last is that of edges within a leaf.
    bool better(const Change& a, const Change& b) const {
        return std::lexicographical_compare(a.begin(), a.end() - 1, b.begin(), b.end() - 1);
    }

    void enqueue(Position each) {
        if (each == 0 || queued_[each]) return;
        queued_[each] = true;
        queue_.push_back(each);
    }
    void enqueue_around(Position each) {
        enqueue(each);
        for (const auto& edge : graph_.edges(each)) enqueue(edge.to);
    }

    void swap(Position a, Position b) {
        std::swap(at_[a], at_[b]);
        std::swap(slot_[a], slot_[b]);
        members_[at_[a]][slot_[a]] = a;
        members_[at_[b]][slot_[b]] = b;
        done_.emplace_back(a, b);
        enqueue_around(a);
        enqueue_around(b);
    }

    // The best partner for a position among those of the leaves that it talks to; 0: none lowers the cut.
    Position best_partner(Position from) {
        Position best = 0;
        std::fill(best_.begin(), best_.end(), 0);
        leaves_.clear();
        for (const auto& edge : graph_.edges(from)) {
            const Leaf leaf = at_[edge.to];
            if (leaf == at_[from] || std::find(leaves_.begin(), leaves_.end(), leaf) != leaves_.end()) continue;
            leaves_.push_back(leaf);
        }
        for (Leaf leaf : leaves_) {
            const auto& members = members_[leaf];
            const std::size_t tried = std::min(members.size(), most_partners);
            const std::size_t start = tried == members.size() ? 0 : random_.below(members.size());
            std::fill(half_.begin(), half_.end(), 0);
            add_move(from, leaf, from, half_);
            for (std::size_t i = 0; i < tried; ++i) {
                const Position partner = members[(start + i) % members.size()];
                if (partner == 0) continue;
                --budget_;
                change_ = half_;
                add_move(partner, at_[from], from, change_);
                // half_ has counted the edge between the two, which does not change.
                for (const auto& edge : graph_.edges(from)) {
                    if (edge.to != partner) continue;
                    change_[parting(at_[from], leaf)] += edge.weight;
                    change_[levels_] -= edge.weight;
                }
                if (!better(change_, best_)) continue;
                best_ = change_;
                best = partner;
            }
        }
        return best;
    }

    void settle() {
        while (!queue_.empty() && budget_ > 0) {
            next_.clear();
            std::swap(next_, queue_);
            for (Position each : next_) {
                queued_[each] = false;
                if (budget_ <= 0) continue;
                const Position partner = best_partner(each);
                if (partner == 0) continue;
                for (std::size_t i = 0; i <= levels_; ++i) total_[i] += best_[i];
                swap(each, partner);
            }
        }
    }

    // Swaps a position with a random one of a leaf it talks to, or any.
    void shake() {
        const auto count = static_cast<Position>(at_.size());
        const Position from = 1 + static_cast<Position>(random_.below(count - 1));
        Position to = 1 + static_cast<Position>(random_.below(count - 1));
        const auto edges = graph_.edges(from);
        if (!edges.empty() && random_.below(4) != 0) {
            const auto& members = members_[at_[edges[random_.below(edges.size())].to]];
            to = members[random_.below(members.size())];
        }
        --budget_;
        if (to == 0 || at_[from] == at_[to]) return;
        std::fill(change_.begin(), change_.end(), 0);
        add_move(from, at_[to], to, change_);
        add_move(to, at_[from], from, change_);
        for (std::size_t i = 0; i <= levels_; ++i) total_[i] += change_[i];
        swap(from, to);
    }

    void shake_until_spent() {
        const Change zero(levels_ + 1, 0);
        while (budget_ > 0) {
            done_.clear();
            std::fill(total_.begin(), total_.end(), 0);
            for (std::size_t i = 2 + random_.below(3); i > 0; --i) shake();
            settle();
            if (!better(zero, total_)) continue;  // as good, or better
            const auto undo = std::exchange(done_, {});
            for (auto each = undo.rbegin(); each != undo.rend(); ++each) swap(each->first, each->second);
            for (Position each : queue_) queued_[each] = false;
            queue_.clear();
        }
    }

    const PositionGraph& graph_;
    LeafSequence at_;
    std::size_t levels_;
    long long budget_;
    std::vector<Group> path_;                     // of each leaf, its group on each level
    std::vector<std::vector<Position>> members_;  // positions of each leaf
    std::vector<Position> slot_;                  // where a position stands among the members of its leaf
    std::vector<Position> queue_, next_;          // positions whose surroundings have changed
    std::vector<bool> queued_;
    std::vector<std::pair<Position, Position>> done_;
    std::vector<Leaf> leaves_;
    Change half_, best_, change_, total_;
    FixedRandom random_;
};

}  // namespace

LeafSequence swap_search(const FabricGroups& groups, const PositionGraph& graph, LeafSequence sequence, long long swaps) {
    if (groups.leaves.size() < 2 || sequence.size() < 3) return sequence;
    return Search(groups, graph, std::move(sequence), swaps).run();
}

LeafSequence swap_search_by_level(const FabricGroups& groups, const PositionGraph& graph, const LeafSequence& sequence, long long swaps) {
    std::vector<Group> at;
    for (Leaf leaf : sequence) at.push_back(groups.levels.front().of_leaf[leaf]);
    for (std::size_t k = 0;; ++k) {
        // The fabric down to this level: its groups stand for leaves.
        const GroupLevel& level = groups.levels[k];
        FabricGroups down_to;
        down_to.leaves.resize(level.size.size());
        for (std::size_t i = 0; i <= k; ++i) {
            GroupLevel& above = down_to.levels.emplace_back(
                GroupLevel{groups.levels[i].name, std::vector<Group>(level.size.size()), groups.levels[i].size});
            for (Leaf leaf = 0; leaf < groups.leaves.size(); ++leaf) above.of_leaf[level.of_leaf[leaf]] = groups.levels[i].of_leaf[leaf];
        }
        at = swap_search(down_to, graph, std::move(at), swaps / static_cast<long long>(groups.levels.size()));
        if (k + 1 == groups.levels.size()) return at;

        // Each group's positions go to the groups below it, one after the other.
        const GroupLevel& below = groups.levels[k + 1];
        std::vector<std::vector<Group>> to_deal(level.size.size());
        std::vector<Group> parent(below.size.size());
        for (Leaf leaf = 0; leaf < groups.leaves.size(); ++leaf) parent[below.of_leaf[leaf]] = level.of_leaf[leaf];
        for (Group child = static_cast<Group>(parent.size()); child-- > 0;)
            to_deal[parent[child]].insert(to_deal[parent[child]].end(), below.size[child], child);
        for (Group& each : at) {
            auto& children = to_deal[each];
            each = children.back();
            children.pop_back();
        }
    }
}

}  // namespace paced::placement
