// SPDX-License-Identifier: BSD-3-Clause
// The offset between two nodes' monotonic clocks from round trips. The best of a burst is the one that was shortest: what
// made the others longer (a busy core, a queue in a switch) rarely delays both ways alike.
#pragma once

#include "policy/io/segment.h"

namespace paced::interposer {

// t1, t4: sent and received by this node; t2, t3: received and answered by the leader, on its clock.
constexpr segment::ClockPoint clock_point(std::uint64_t t1, std::uint64_t t2, std::uint64_t t3, std::uint64_t t4) {
    const auto there = static_cast<std::int64_t>(t2 - t1), back = static_cast<std::int64_t>(t3 - t4);
    const auto round_trip = static_cast<std::int64_t>(t4 - t1) - static_cast<std::int64_t>(t3 - t2);
    return {t1 + (t4 - t1) / 2, there / 2 + back / 2, round_trip / 2 + 1};
}

// The points of a whole job in fixed memory: when it is full every second one goes, and from then on only every second
// (fourth, ...) is taken. A gap of half a minute is harmless, since the reader interpolates.
class ClockPoints {
public:
    void add(const segment::ClockPoint& point) {
        if (offered_++ % spacing_ != 0) return;
        if (count_ == segment::clock_limit) {
            for (std::uint32_t i = 0; i < count_ / 2; ++i) points_[i] = points_[2 * i];
            count_ /= 2;
            spacing_ *= 2;
            if ((offered_ - 1) % spacing_ != 0) return;
        }
        points_[count_++] = point;
    }
    // The last of a job is worth keeping whatever the spacing: it ends the interpolation.
    void add_last(const segment::ClockPoint& point) {
        if (count_ == segment::clock_limit) --count_;
        points_[count_++] = point;
    }
    const segment::ClockPoint* data() const { return points_; }
    std::uint32_t count() const { return count_; }

private:
    segment::ClockPoint points_[segment::clock_limit];
    std::uint32_t count_ = 0;
    std::uint64_t offered_ = 0, spacing_ = 1;
};

}  // namespace paced::interposer
