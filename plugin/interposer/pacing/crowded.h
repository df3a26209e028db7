// SPDX-License-Identifier: BSD-3-Clause
// Whether the ranks of this node are more than the cores they share, so that one which spins takes time from another.
#pragma once

#include "policy/io/segment.h"

namespace paced::interposer {

// What one rank's affinity (a set of CPUs) gets to see of the node's ranks. Add each living rank, itself too.
class Crowd {
public:
    explicit Crowd(const std::uint64_t (&cpus)[16]);
    void add(const segment::Rank& rank);
    // More ranks are expected on these CPUs than there are CPUs; a rank that may use several counts on each by its share.
    bool is_crowded() const { return cores_ != 0 && load_ > cores_ * unit; }

private:
    static constexpr std::uint32_t unit = 1024;

    std::uint64_t cpus_[16];
    std::uint32_t cores_ = 0;
    std::uint64_t load_ = 0;
};

// Reads the ranks of a segment's file; some 20 us. True where it cannot be told: better to sleep than to be in the way.
bool is_crowded(const char* segment_path, const segment::Header& header, const segment::Rank& own);

}  // namespace paced::interposer
