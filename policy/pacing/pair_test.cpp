// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/pair_test.h"

#include <cmath>

namespace paced::pacing {
namespace {

constexpr double bets[] = {0.4, 0.9, 2.0};  // effect over noise of one pair, that each would be best for
constexpr double guess_weight = 2;     // pairs that the guessed scale counts for
constexpr double winsor = 3;           // a residual beyond this many scales counts as this many: one 200 ms event must not end all betting
constexpr double least_scale = 1e-3;   // timer noise of a block; below it nothing is worth telling apart

// log(1 + tanh(x)) without loss at either end
double log_factor(double x) {
    return x > 0 ? 0.6931471805599453 - std::log1p(std::exp(-2 * x)) : 0.6931471805599453 + 2 * x - std::log1p(std::exp(2 * x));
}

double log_of_mean(const double* logs, std::uint32_t count) {
    double most = logs[0], sum = 0;
    for (std::uint32_t i = 1; i < count; ++i) most = logs[i] > most ? logs[i] : most;
    for (std::uint32_t i = 0; i < count; ++i) sum += std::exp(logs[i] - most);
    return most + std::log(sum / count);
}

}  // namespace

void PairTest::clear(double scale, Null null) {
    static_assert(sizeof bets / sizeof bets[0] == bet_count);
    null_ = null;
    for (double& log : logs_) log = 0;
    count_ = 0;
    sum_ = squares_ = 0;
    guess_ = scale > least_scale ? scale : least_scale;  // also for NaN
}

void PairTest::add(double difference) {
    if (!std::isfinite(difference)) return;
    if (count_ == pair_limit) {
        const std::uint32_t half = pair_limit / 2;
        const double guess = deviation();
        float kept[half];
        for (std::uint32_t i = 0; i < half; ++i) kept[i] = difference_[half + i];
        clear(guess, null_);
        for (std::uint32_t i = 0; i < half; ++i) add(static_cast<double>(kept[i]));
    }
    const double scale = deviation();
    const double centre = count_ > 0 ? mean() : 0;
    if (count_ > 0) {
        double residual = std::fabs(difference - centre) / scale;
        if (residual > winsor) residual = winsor;
        // a residual from the mean of n others is larger than one from the true mean
        squares_ += residual * residual * scale * scale * count_ / (count_ + 1.0);
    }
    difference_[count_] = static_cast<float>(difference);
    scale_at_[count_] = static_cast<float>(scale);
    const double x = (difference - null_.shift) / scale;
    for (std::uint32_t i = 0; i < bet_count; ++i) logs_[i] += log_factor(bets[i] * (null_.side == Side::above ? x : -x));
    sum_ += difference;
    ++count_;
}

double PairTest::mean() const { return count_ > 0 ? sum_ / count_ : 0; }

double PairTest::deviation() const {
    const double degrees = count_ > 0 ? count_ - 1.0 : 0.0;
    const double scale = std::sqrt((guess_weight * guess_ * guess_ + squares_) / (guess_weight + degrees));
    return scale > least_scale ? scale : least_scale;
}

double PairTest::log_wealth() const { return log_of_mean(logs_, bet_count); }

double PairTest::log_wealth(Null null) const {
    double logs[bet_count] = {};
    for (std::uint32_t t = 0; t < count_; ++t) {
        const double x = (static_cast<double>(difference_[t]) - null.shift) / static_cast<double>(scale_at_[t]);
        for (std::uint32_t i = 0; i < bet_count; ++i) logs[i] += log_factor(bets[i] * (null.side == Side::above ? x : -x));
    }
    return log_of_mean(logs, bet_count);
}

PairTest::Bounds PairTest::bounds(double error) const {
    constexpr double reach = 2;  // of log time: a factor of 7
    const double enough = std::log(2 / (error > 1e-9 ? error : 1e-9));
    // log_wealth falls (above) or rises (below) with the shift, since s_t does not depend on it: bisect from either side.
    const auto edge = [&](Side side, double outward) {
        double inside = mean(), outside = mean() + outward * reach;
        if (log_wealth(Null{side, outside}) < enough) return outside;
        for (int i = 0; i < 20; ++i) {
            const double middle = (inside + outside) / 2;
            (log_wealth(Null{side, middle}) < enough ? inside : outside) = middle;
        }
        return inside;
    };
    return {edge(Side::above, -1), edge(Side::below, 1)};
}

}  // namespace paced::pacing
