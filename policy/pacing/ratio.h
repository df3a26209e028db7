// SPDX-License-Identifier: BSD-3-Clause
// What is claimed: a ratio of mean iteration times over paired blocks, with an interval, and the mean and CV of the iterations of many
// blocks. Throughput is what a user pays for, so the ratio is of arithmetic means; a mean of logarithms would give a steadier
// setting less than it is worth.
//
// Sources: ratio estimator and its linearised variance, Cochran 1977, "Sampling Techniques", 6.3; Student's quantile by the
// expansion of Cornish and Fisher (Abramowitz, Stegun 26.7.5) with a table where it is too coarse.
#pragma once

#include <cstdint>

namespace paced::pacing {

// The two-sided 95 % quantile of Student's t.
double student_95(std::uint32_t degrees);

class RatioOfMeans {
public:
    void add(double over, double under);
    std::uint32_t count() const { return count_; }
    // 100 * (mean over / mean under - 1), with 95 % limits; false with less than two pairs (low = high = percent then).
    bool percent(double& value, double& low, double& high) const;

private:
    std::uint32_t count_ = 0;
    double over_ = 0, under_ = 0;                    // means (Welford)
    double over2_ = 0, under2_ = 0, product_ = 0;    // sums of squares and products about them
};

// Of iterations, from blocks' means and CVs.
class Moments {
public:
    void add(double iterations, double mean, double cv);
    double mean() const { return weight_ > 0 ? mean_ : 0; }
    double cv() const;
    double iterations() const { return weight_; }

private:
    double weight_ = 0, mean_ = 0, square_ = 0;      // square: sum of squares about the mean
};

}  // namespace paced::pacing
