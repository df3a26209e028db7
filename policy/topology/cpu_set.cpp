// SPDX-License-Identifier: BSD-3-Clause
#include "policy/topology/cpu_set.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "policy/base/text.h"

namespace paced::topology {

CpuSet::CpuSet(std::initializer_list<int> cpus) {
    for (int cpu : cpus) add(cpu);
}

CpuSet CpuSet::range(int first, int last) {
    CpuSet cpus;
    cpus.add_range(first, last);
    return cpus;
}

std::optional<CpuSet> CpuSet::parse(std::string_view text) {
    CpuSet cpus;
    if (trim(text).empty()) return cpus;
    for (std::string_view part : split(text, ',')) {
        const auto dash = part.find('-');
        const auto first = parse_integer(trim(part.substr(0, dash)));
        const auto last = dash == std::string_view::npos ? first : parse_integer(trim(part.substr(dash + 1)));
        if (!first || !last || *first < 0 || *last < *first || *last >= limit) return std::nullopt;
        cpus.add_range(static_cast<int>(*first), static_cast<int>(*last));
    }
    return cpus;
}

void CpuSet::add(int cpu) {
    assert(cpu >= 0 && cpu < limit);
    const auto word = static_cast<std::size_t>(cpu) / 64;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= std::uint64_t{1} << (cpu % 64);
}

void CpuSet::add_range(int first, int last) {
    for (int cpu = first; cpu <= last; ++cpu) add(cpu);
}

bool CpuSet::contains(int cpu) const {
    const auto word = static_cast<std::size_t>(cpu) / 64;
    return cpu >= 0 && word < words_.size() && (words_[word] >> (cpu % 64) & 1) != 0;
}

int CpuSet::count() const {
    int total = 0;
    for (std::uint64_t word : words_) total += std::popcount(word);
    return total;
}

int CpuSet::first() const {
    return next(-1);
}

int CpuSet::next(int after) const {
    const int start = after + 1;
    for (auto word = static_cast<std::size_t>(start) / 64; word < words_.size(); ++word) {
        std::uint64_t bits = words_[word];
        if (word == static_cast<std::size_t>(start) / 64) bits &= ~std::uint64_t{0} << (start % 64);
        if (bits != 0) return static_cast<int>(word * 64) + std::countr_zero(bits);
    }
    return -1;
}

std::vector<int> CpuSet::members() const {
    std::vector<int> cpus;
    for (int cpu = first(); cpu >= 0; cpu = next(cpu)) cpus.push_back(cpu);
    return cpus;
}

bool CpuSet::is_subset_of(const CpuSet& other) const {
    return (*this - other).empty();
}

bool CpuSet::intersects(const CpuSet& other) const {
    return !(*this & other).empty();
}

CpuSet& CpuSet::operator|=(const CpuSet& other) {
    if (other.words_.size() > words_.size()) words_.resize(other.words_.size());
    for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
}

CpuSet& CpuSet::operator&=(const CpuSet& other) {
    words_.resize(std::min(words_.size(), other.words_.size()));
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    drop_empty_tail();
    return *this;
}

CpuSet& CpuSet::operator-=(const CpuSet& other) {
    for (std::size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i) words_[i] &= ~other.words_[i];
    drop_empty_tail();
    return *this;
}

void CpuSet::drop_empty_tail() {
    while (!words_.empty() && words_.back() == 0) words_.pop_back();
}

std::string to_string(const CpuSet& cpus) {
    std::string text;
    for (int first = cpus.first(); first >= 0;) {
        int last = first;
        while (cpus.contains(last + 1)) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(first);
        if (last > first) text += '-' + std::to_string(last);
        first = cpus.next(last);
    }
    return text;
}

}  // namespace paced::topology
