// SPDX-License-Identifier: BSD-3-Clause
// CpuSet: a set of processing units (hardware threads) by the numbers that the operating system gives them, and its text
// as Linux writes it ("0-7,16-23").
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paced::topology {

class CpuSet {
public:
    static constexpr int limit = 1 << 16;  // numbers from here on are refused: no machine has them, a typing slip may

    CpuSet() = default;
    CpuSet(std::initializer_list<int> cpus);
    static CpuSet range(int first, int last);  // both included

    // "0-7,16-23"; blanks around numbers and an empty text (the empty set) are fine. nullopt for anything else.
    static std::optional<CpuSet> parse(std::string_view text);

    void add(int cpu);
    void add_range(int first, int last);
    bool contains(int cpu) const;
    bool empty() const { return words_.empty(); }
    int count() const;
    int first() const;          // -1: empty
    int next(int after) const;  // the smallest member greater than after; -1: none
    std::vector<int> members() const;

    bool is_subset_of(const CpuSet& other) const;
    bool intersects(const CpuSet& other) const;
    CpuSet& operator|=(const CpuSet& other);
    CpuSet& operator&=(const CpuSet& other);
    CpuSet& operator-=(const CpuSet& other);
    friend CpuSet operator|(CpuSet a, const CpuSet& b) { return a |= b; }
    friend CpuSet operator&(CpuSet a, const CpuSet& b) { return a &= b; }
    friend CpuSet operator-(CpuSet a, const CpuSet& b) { return a -= b; }
    friend bool operator==(const CpuSet&, const CpuSet&) = default;

private:
    void drop_empty_tail();

    std::vector<std::uint64_t> words_;  // the last word is never 0, so that == compares sets
};

std::string to_string(const CpuSet& cpus);

}  // namespace paced::topology
