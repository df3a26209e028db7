// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/off_window.h"

#include <cmath>

#include "policy/pacing/ratio.h"

namespace paced::pacing {
namespace {

constexpr double least_deviation = 0.005;   // two blocks that happen to agree must not make noise of the third
constexpr double worth_percent = 1;         // of the iteration: a loss below this is not looked for

constexpr double few_blocks = 4;            // with so many the deviation is known to a factor of two: noise counts twice

double median(double* values, std::uint32_t count) {
    for (std::uint32_t i = 1; i < count; ++i) {
        for (std::uint32_t j = i; j > 0 && values[j] < values[j - 1]; --j) {
            const double value = values[j];
            values[j] = values[j - 1];
            values[j - 1] = value;
        }
    }
    return count > 0 ? values[count / 2] : 0;
}

}  // namespace

void OffWindow::add(const Observation& block) {
    kept_[count_ % recent] = {block.mean_ns, block.log_mean, block.cv, block.service_ns, block.longest_service_ns, block.shortest_service_ns,
                              block.earliness_ns, block.straggler_ns, static_cast<double>(block.iterations), static_cast<double>(block.retransmissions)};
    logs_[count_ % remembered] = block.log_mean;
    // the moduli above are powers of two, so nothing jumps when the counter starts again high
    count_ = count_ == ~std::uint32_t{0} ? std::uint32_t{1} << 31 : count_ + 1;
    foreign_.add(block.service_ns);
}

double OffWindow::mean_of(double Kept::*field) const {
    double sum = 0;
    for (std::uint32_t i = 0; i < kept(); ++i) sum += kept_[i].*field;
    return kept() > 0 ? sum / kept() : 0;
}

double OffWindow::cv() const {
    Moments iterations;
    for (std::uint32_t i = 0; i < kept(); ++i) iterations.add(kept_[i].iterations, kept_[i].mean_ns, kept_[i].cv);
    return iterations.cv();
}

double OffWindow::least_service_ns() const {
    double least = kept_[0].service_ns;
    for (std::uint32_t i = 1; i < kept(); ++i) least = kept_[i].service_ns < least ? kept_[i].service_ns : least;
    return least;
}

double OffWindow::shortest_service_ns() const {
    double least = kept_[0].shortest_service_ns;
    for (std::uint32_t i = 1; i < kept(); ++i) least = kept_[i].shortest_service_ns < least ? kept_[i].shortest_service_ns : least;
    return least;
}

double OffWindow::longest_service_ns() const {
    double longest[recent];
    for (std::uint32_t i = 0; i < kept(); ++i) longest[i] = kept_[i].longest_service_ns;
    return median(longest, kept());
}

double OffWindow::deviation(std::uint32_t iterations) const {
    if (count_ == 0) return 0.1;
    const double centre = log_mean();
    double squares = 0, within = 0, length = 0;
    for (std::uint32_t i = 0; i < kept(); ++i) {
        squares += (kept_[i].log_mean - centre) * (kept_[i].log_mean - centre);
        within += kept_[i].cv * kept_[i].cv / (kept_[i].iterations > 1 ? kept_[i].iterations : 1);
        length += kept_[i].iterations;
    }
    within /= kept();
    length /= kept();
    // What is within the blocks counts as two more blocks: with a few blocks it says more than what is between them.
    const double variance = (squares + 2 * within) / (kept() + 1.0);
    const double longer = iterations > 0 && length > iterations ? length / iterations : 1;
    const double scale = std::sqrt(variance * longer);
    return scale > least_deviation ? scale : least_deviation;
}

bool OffWindow::is_severe(const Observation& block, const Tuning& tuning) const {
    if (count_ == 0) return false;
    const std::uint32_t filled = count_ < remembered ? count_ : remembered;
    double worst = logs_[0];
    for (std::uint32_t i = 1; i < filled; ++i) worst = logs_[i] > worst ? logs_[i] : worst;
    const double margin = std::log1p(tuning.severe_percent / 100), few = 1 + few_blocks / count_;
    const double noise = tuning.severe_deviations * deviation(block.iterations) * few;
    return block.log_mean > worst && block.log_mean > log_mean() + (margin > noise ? margin : noise);
}

Signature OffWindow::signature(const Facts& facts, const Tuning& tuning) const {
    Signature seen;
    if (count_ == 0) return seen;
    const double mean = mean_ns(), calls = facts.calls > 0 ? facts.calls : 1;
    const double worth = mean * worth_percent / 100;
    // Segments sent again take time only where calls take time; a few are sent again on any network, and tell nothing of an iteration.
    seen.retransmits = mean_of(&Kept::retransmissions) >= mean_of(&Kept::iterations) && service_ns() * calls >= worth;
    const double longest = longest_service_ns();
    const bool inflated = longest >= tuning.inflation * service_ns() && longest - service_ns() >= worth * mean_of(&Kept::iterations);
    seen.congested = seen.retransmits || inflated;
    seen.waits = facts.pays_for_waiting && mean_of(&Kept::earliness_ns) * calls >= worth;
    seen.foreign_blocks = foreign_.blocks();
    return seen;
}

std::uint32_t OffWindow::stragglers(const Tuning& tuning) const {
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; i < kept(); ++i) found += kept_[i].straggler_ns > kept_[i].mean_ns * tuning.straggler_percent / 100;
    return found;
}

bool OffWindow::has_straggler(const Tuning& tuning) const {
    return count_ >= straggler_blocks && stragglers(tuning) > kept() * tuning.straggler_share;
}

bool OffWindow::suspects_straggler(const Tuning& tuning) const {
    return count_ < straggler_blocks && count_ > 0 && stragglers(tuning) >= kept() * tuning.straggler_share;
}

}  // namespace paced::pacing
