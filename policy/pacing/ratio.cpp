// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/ratio.h"

#include <cmath>

namespace paced::pacing {

double student_95(std::uint32_t degrees) {
    constexpr double table[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
    if (degrees == 0) return table[0];
    if (degrees <= sizeof table / sizeof table[0]) return table[degrees - 1];
    constexpr double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    const double n = degrees;
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) + (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

void RatioOfMeans::add(double over, double under) {
    if (!(over > 0) || !(under > 0) || !std::isfinite(over) || !std::isfinite(under)) return;
    ++count_;
    const double from_over = over - over_, from_under = under - under_;
    over_ += from_over / count_;
    under_ += from_under / count_;
    over2_ += from_over * (over - over_);
    under2_ += from_under * (under - under_);
    product_ += from_over * (under - under_);
}

bool RatioOfMeans::percent(double& value, double& low, double& high) const {
    value = low = high = 0;
    if (count_ == 0) return false;
    const double ratio = over_ / under_;
    value = low = high = 100 * (ratio - 1);
    if (count_ < 2) return false;
    const double n = count_;
    double variance = (over2_ / (over_ * over_) + under2_ / (under_ * under_) - 2 * product_ / (over_ * under_)) / (n * (n - 1));
    if (!(variance > 0)) variance = 0;
    const double half = student_95(count_ - 1) * std::sqrt(variance);
    low = 100 * (ratio * std::exp(-half) - 1);
    high = 100 * (ratio * std::exp(half < 20 ? half : 20) - 1);
    return true;
}

void Moments::add(double iterations, double mean, double cv) {
    if (!(iterations > 0) || !(mean > 0) || !(cv >= 0) || !std::isfinite(iterations * mean * cv * mean)) return;
    const double total = weight_ + iterations, from = mean - mean_;
    square_ += iterations * mean * mean * cv * cv + from * from * weight_ * iterations / total;
    mean_ += from * iterations / total;
    weight_ = total;
}

double Moments::cv() const { return weight_ > 0 && mean_ > 0 ? std::sqrt(square_ / weight_) / mean_ : 0; }

}  // namespace paced::pacing
