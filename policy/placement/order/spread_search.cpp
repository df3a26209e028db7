// SPDX-License-Identifier: BSD-3-Clause
// Where the sequences come from. Let g be a primitive root of a prime p, and ind the discrete logarithm to base g.
// - Power residues: position x gets ind(x) mod r, period p. For r = 2 these are the squares and non-squares (Legendre), and
//   with p = 3 mod 4 the squares are a difference set (R. E. A. C. Paley 1933).
// - Sidelnikov 1969 (for r = 2 also A. Lempel, M. Cohn, W. L. Eastman 1977): position x gets ind(g^x + 1) mod r, period p - 1.
// Both differ from a perfectly flat autocorrelation by a small constant. For other numbers of hosts the sequence of the next
// prime is cut off, which makes it as good as an irregular one.
#include "policy/placement/order/spread_search.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "policy/placement/order/fixed_random.h"
#include "policy/placement/order/shift_load.h"

namespace paced::placement {

namespace {

constexpr std::size_t most_hosts_to_swap = 3000;

// Pairs of positions counted, on all levels together: a few milliseconds for 64 hosts, some 30 at most.
long long pair_counts_for(std::size_t hosts) {
    return std::min(400 * static_cast<long long>(hosts * hosts), 10'000'000LL);
}

bool is_prime(std::size_t number) {
    for (std::size_t i = 2; i * i <= number; ++i)
        if (number % i == 0) return false;
    return number > 1;
}

// Discrete logarithms modulo a prime to its smallest primitive root; of 0 and the like: p - 1.
struct Logarithms {
    explicit Logarithms(std::size_t prime) : p(prime), power(prime), index(prime, prime - 1) {
        for (std::size_t g = 1; g < p; ++g) {
            std::fill(index.begin(), index.end(), p - 1);
            std::size_t value = 1, exponent = 0;
            for (; exponent < p - 1 && index[value] == p - 1; ++exponent) {
                index[value] = exponent;
                power[exponent] = value;
                value = value * g % p;
            }
            if (exponent == p - 1) return;
        }
    }
    std::size_t p;
    std::vector<std::size_t> power, index;
};

enum class Kind { together, power_residues, sidelnikov, irregular };

struct Sequence {
    Kind kind = Kind::together;
    std::size_t parts = 1;      // r, of those by logarithms
    bool odd_one_first = true;  // where the position without a logarithm goes
    std::uint64_t seed = 0;     // of irregular ones
};

// A number for each position; positions with low ones go to the first group, and so on.
std::vector<std::uint64_t> keys(const Sequence& sequence, std::size_t n) {
    std::vector<std::uint64_t> key(n);
    if (sequence.kind == Kind::together) {
        std::iota(key.begin(), key.end(), std::uint64_t{0});
    } else if (sequence.kind == Kind::irregular) {
        FixedRandom random(sequence.seed);
        for (auto& each : key) each = random.next();
    } else {
        const bool residues = sequence.kind == Kind::power_residues;
        std::size_t prime = std::max<std::size_t>(residues ? n : n + 1, 3);
        while (!is_prime(prime)) ++prime;
        const Logarithms logarithms(prime);
        for (std::size_t x = 0; x < n; ++x) {
            const std::size_t index = logarithms.index[residues ? x : (logarithms.power[x] + 1) % prime];
            key[x] = index < prime - 1 ? 1 + index % sequence.parts : sequence.odd_one_first ? 0 : sequence.parts + 1;
        }
    }
    return key;
}

// The groups of one level over the positions, those of the level above being given.
class Spreading {
public:
    Spreading(const GroupLevel& level, const std::vector<Group>& above_of, const std::vector<Group>& above, long long budget)
        : level_(level), n_(above.size()), budget_(budget), positions_(level.size.size()) {
        std::size_t parents = 0;
        for (Group each : above) parents = std::max<std::size_t>(parents, each + 1);
        places_.resize(parents);
        children_.resize(parents);
        for (std::uint32_t i = 0; i < n_; ++i) places_[above[i]].push_back(i);
        for (Group group = 0; group < level.size.size(); ++group) children_[above_of[group]].push_back(group);
    }

    std::vector<Group> run() {
        std::vector<Group> best = deal({});
        const auto least = static_cast<long long>(least_load());
        long long best_load = load(best);
        if (best_load <= least) return best;
        std::vector<Sequence> sequences;
        for (Kind kind : {Kind::power_residues, Kind::sidelnikov})
            for (std::size_t parts : {level_.size.size(), equal_parts(level_)})
                for (bool odd_one_first : {true, false}) sequences.push_back({kind, parts, odd_one_first, 0});
        for (std::uint64_t seed : {1, 2, 3}) sequences.push_back({Kind::irregular, 1, true, seed});
        for (const Sequence& sequence : sequences) {
            auto dealt = deal(sequence);
            const long long its_load = load(dealt);
            if (its_load >= best_load) continue;
            best_load = its_load;
            best = std::move(dealt);
        }
        if (n_ <= most_hosts_to_swap && best_load > least) swap_down(best, best_load, least);
        return best;
    }

private:
    // Of which each group takes a whole number.
    static std::size_t equal_parts(const GroupLevel& level) {
        std::size_t divisor = 0, sum = 0;
        for (std::size_t m : level.size) {
            divisor = std::gcd(divisor, m);
            sum += m;
        }
        return std::max<std::size_t>(sum / std::max<std::size_t>(divisor, 1), 1);
    }

    std::size_t least_load() const { return static_cast<std::size_t>(least_shift_load(level_, n_)); }

    long long load(const std::vector<Group>& at) const {
        GroupLevel own{{}, std::vector<Group>(level_.size.size()), level_.size};  // a group is its own leaf
        std::iota(own.of_leaf.begin(), own.of_leaf.end(), Group{0});
        return worst_shift_load(own, at);
    }

    std::vector<Group> deal(const Sequence& sequence) const {
        const auto key = keys(sequence, n_);
        std::vector<Group> at(n_);
        for (std::size_t parent = 0; parent < places_.size(); ++parent) {
            auto places = places_[parent];
            std::stable_sort(places.begin(), places.end(), [&](std::uint32_t a, std::uint32_t b) { return key[a] < key[b]; });
            std::size_t next = 0;
            for (Group child : children_[parent])
                for (std::size_t i = 0; i < level_.size[child]; ++i) at[places[next++]] = child;
        }
        return at;
    }

    // Swaps within one group above, kept where the load over the wanted limit does not grow: the sum, over groups and distances,
    // of the squares of what is too much. When that is zero the limit is reached, and the next lower one is tried.
    void swap_down(std::vector<Group>& best, long long best_load, long long least) {
        std::vector<Group> at = best;
        std::vector<Group> with_choice;  // parents of which positions can change places
        for (Group parent = 0; parent < places_.size(); ++parent)
            if (children_[parent].size() > 1) with_choice.push_back(parent);
        if (with_choice.empty()) return;
        for (auto& each : positions_) each.clear();
        slot_.resize(n_);
        pairs_.assign(positions_.size(), std::vector<long long>(n_ / 2 + 1, 0));
        for (std::uint32_t i = 0; i < n_; ++i) {
            count(at[i], i, +1);
            slot_[i] = positions_[at[i]].size();
            positions_[at[i]].push_back(i);
        }
        FixedRandom random(7);
        limit_ = best_load - 1;
        long long excess = total_excess();
        while (budget_ > 0) {
            if (excess == 0) {
                best = at;
                if (limit_ <= least) return;
                --limit_;
                excess = total_excess();
                continue;
            }
            const auto& places = places_[with_choice[random.below(with_choice.size())]];
            const std::uint32_t a = places[random.below(places.size())], b = places[random.below(places.size())];
            --budget_;
            if (at[a] == at[b]) continue;
            const long long change = exchange(at, a, b);
            if (change <= 0)
                excess += change;
            else
                exchange(at, a, b);
        }
    }

    long long excess_of(Group group, long long pairs) const {
        const long long over = static_cast<long long>(level_.size[group]) - pairs - limit_;
        return over > 0 ? over * over : 0;
    }

    long long total_excess() const {
        long long sum = 0;
        for (Group group = 0; group < pairs_.size(); ++group)
            for (std::size_t d = 1; d < pairs_[group].size(); ++d) sum += excess_of(group, pairs_[group][d]);
        return sum;
    }

    // Counts, or forgets, the pairs of a position with the members of a group; returns the change of the excess.
    long long count(Group group, std::uint32_t position, int sign) {
        auto& pairs = pairs_[group];
        long long change = 0;
        for (std::uint32_t other : positions_[group]) {
            if (other == position) continue;
            const std::size_t d = other > position ? other - position : position - other, distance = std::min(d, n_ - d);
            long long& each = pairs[distance];
            change -= excess_of(group, each);
            each += 2 * distance == n_ ? 2 * sign : sign;
            change += excess_of(group, each);
        }
        budget_ -= static_cast<long long>(positions_[group].size());
        return change;
    }

    // Two positions of different groups change places; returns the change of the excess.
    long long exchange(std::vector<Group>& at, std::uint32_t a, std::uint32_t b) {
        const Group from = at[a], to = at[b];
        long long change = count(from, a, -1) + count(to, b, -1);
        std::swap(at[a], at[b]);
        std::swap(slot_[a], slot_[b]);
        positions_[at[a]][slot_[a]] = a;
        positions_[at[b]][slot_[b]] = b;
        change += count(to, a, +1) + count(from, b, +1);
        return change;
    }

    const GroupLevel& level_;
    std::size_t n_;
    long long budget_;
    std::vector<std::vector<std::uint32_t>> places_;     // positions of each group above
    std::vector<std::vector<Group>> children_;           // groups below each group above
    std::vector<std::vector<std::uint32_t>> positions_;  // of each group
    std::vector<std::size_t> slot_;
    std::vector<std::vector<long long>> pairs_;  // of each group: how many members have a member at this distance ahead
    long long limit_ = 0;
};

}  // namespace

LeafSequence spread(const FabricGroups& groups) {
    std::vector<Group> above(groups.hosts(), 0);
    for (std::size_t k = 0; k < groups.levels.size(); ++k) {
        const GroupLevel& level = groups.levels[k];
        std::vector<Group> above_of(level.size.size(), 0);
        if (k > 0)
            for (Leaf leaf = 0; leaf < groups.leaves.size(); ++leaf) above_of[level.of_leaf[leaf]] = groups.levels[k - 1].of_leaf[leaf];
        above = Spreading(level, above_of, above, pair_counts_for(groups.hosts()) / static_cast<long long>(groups.levels.size())).run();
    }
    // The load does not change when the order is turned; so the first host may stand first.
    std::rotate(above.begin(), std::find(above.begin(), above.end(), Group{0}), above.end());
    return above;
}

}  // namespace paced::placement
