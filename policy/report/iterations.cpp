// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/iterations.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

namespace paced::report {

namespace {

constexpr std::size_t window_max = 16384;  // collectives that the period is sought in; the rest is read by it
constexpr std::size_t period_max = 4096;   // collectives in one iteration
constexpr std::size_t multiple_max = 256;
constexpr std::size_t repetitions_min = 4;
constexpr double explained_min = .95, well_explained = .99;
constexpr double rhythm_min = .5;

// Where the sequence repeats itself with a period: events [begin, end) with symbol[i] == symbol[i + period] wherever
// both lie inside.
struct Stretch {
    std::size_t begin = 0, end = 0;

    std::size_t size() const { return end - begin; }
};

// The maximal stretches with at least three repetitions. Where an event does not follow its predecessor one ends.
std::vector<Stretch> stretches_of(std::span<const Event> events, std::size_t period) {
    std::vector<Stretch> found;
    std::size_t begin = 0;
    const auto close = [&](std::size_t end) {
        if (end - begin >= 3 * period) found.push_back({begin, end});
    };
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (i > 0 && !events[i].follows) {
            close(i);
            begin = i;
        } else if (i >= begin + period && events[i].symbol != events[i - period].symbol) {
            close(i);
            begin = i - period + 1;
            // Two stretches must not share events.
            if (!found.empty()) begin = std::max(begin, found.back().end);
        }
    }
    close(events.size());
    return found;
}

std::size_t covered_by(const std::vector<Stretch>& stretches) {
    std::size_t covered = 0;
    for (const Stretch& stretch : stretches) covered += stretch.size();
    return covered;
}

bool explains(std::span<const Event> events, const std::vector<Stretch>& stretches, std::size_t period, double share) {
    if (stretches.empty()) return false;
    const std::size_t covered = covered_by(stretches);
    const std::size_t length = stretches.back().end - stretches.front().begin;
    if (covered < repetitions_min * period) return false;
    if (static_cast<double>(covered) < share * static_cast<double>(length)) return false;
    // A short accident of repetition in the middle of something else is no iteration.
    return 2 * length >= events.size() || covered >= 8 * period;
}

// The smallest period above `above` that explains at least `share`.
std::optional<std::size_t> period_of(std::span<const Event> events, std::size_t above, double share) {
    if (events.size() > window_max) events = events.subspan((events.size() - window_max) / 2, window_max);
    const std::size_t limit = std::min(period_max, events.size() / 3);
    for (std::size_t period = above + 1; period <= limit; ++period)
        if (explains(events, stretches_of(events, period), period, share)) return period;
    return std::nullopt;
}

// log of the compute before an event; a microsecond is added so that back to back is a finite number.
double compute_before(std::span<const Event> events, std::size_t i) {
    const std::uint64_t left = events[i - 1].completion_ns, came = events[i].arrival_ns;
    return std::log(1e3 + (came > left ? static_cast<double>(came - left) : 0.0));
}

// Variance of the compute around its mean in each class, corrected for the number of classes.
class WithinClasses {
public:
    void add(std::uint64_t label, double value) {
        Sums& sums = classes_[label];
        sums.count += 1;
        sums.sum += value;
        sums.squares += value * value;
        total_ += 1;
    }
    double variance() const {
        double within = 0;
        for (const auto& [label, sums] : classes_) within += std::max(0.0, sums.squares - sums.sum * sums.sum / sums.count);
        const double freedom = total_ - static_cast<double>(classes_.size());
        return freedom > 0 ? within / freedom : within;
    }

private:
    struct Sums {
        double count = 0, sum = 0, squares = 0;
    };
    std::unordered_map<std::uint64_t, Sums> classes_;
    double total_ = 0;
};

// The rhythm of a candidate length: how much of the variance of compute that a shorter one leaves it explains. The
// shorter one is a period, or 0: just the kind of collective.
double rhythm(std::span<const Event> events, Stretch stretch, std::size_t shorter, std::size_t length) {
    WithinClasses before, after;
    for (std::size_t i = stretch.begin + 1; i < stretch.end; ++i) {
        const double value = compute_before(events, i);
        before.add(shorter > 0 ? (i - stretch.begin) % shorter : events[i].symbol, value);
        after.add((i - stretch.begin) % length, value);
    }
    // Where all computes are within some 10 % of each other there is nothing to tell apart.
    return before.variance() > .01 ? 1 - after.variance() / before.variance() : 0;
}

Stretch longest_of(const std::vector<Stretch>& stretches) {
    Stretch longest = *std::max_element(stretches.begin(), stretches.end(),
                                        [](const Stretch& a, const Stretch& b) { return a.size() < b.size(); });
    if (longest.size() > window_max) longest.begin = longest.end - window_max;
    return longest;
}

std::size_t multiple_of(std::span<const Event> events, const std::vector<Stretch>& stretches, std::size_t period) {
    const Stretch longest = longest_of(stretches);
    const std::size_t limit = std::min(multiple_max, longest.size() / period / (2 * repetitions_min));
    std::vector<double> explained(limit + 1);
    double best = 0;
    for (std::size_t multiple = 2; multiple <= limit; ++multiple)
        best = std::max(best, explained[multiple] = rhythm(events, longest, period, period * multiple));
    if (best < rhythm_min) return 1;
    for (std::size_t multiple = 2; multiple <= limit; ++multiple)
        if (explained[multiple] >= .95 * best) return multiple;
    return 1;
}

// How many collectives make one iteration.
std::optional<std::size_t> length_of(std::span<const Event> events) {
    const std::optional<std::size_t> period = period_of(events, 0, explained_min);
    if (!period) return std::nullopt;
    const std::vector<Stretch> stretches = stretches_of(events, *period);
    // Many equal ones and a stranger now and then (30 equal buckets and the loss, or 30 iterations and a log line):
    // again the compute decides.
    if (!explains(events, stretches, *period, well_explained)) {
        const std::optional<std::size_t> longer = period_of(events, *period, well_explained);
        if (longer && rhythm(events, longest_of(stretches_of(events, *longer)), 0, *longer) >= rhythm_min) return longer;
    }
    return *period * multiple_of(events, stretches, *period);
}

// The place in the iteration with the longest compute before it, by its median: there an iteration starts.
std::size_t start_of(std::span<const Event> events, Stretch stretch, std::size_t length) {
    std::vector<std::vector<double>> compute(length);
    for (std::size_t i = stretch.begin + 1; i < stretch.end; ++i) compute[(i - stretch.begin) % length].push_back(compute_before(events, i));
    std::size_t start = 0;
    double longest = -1;
    for (std::size_t place = 0; place < length; ++place) {
        const double median = percentile(compute[place], .5);
        if (median > longest) {
            longest = median;
            start = place;
        }
    }
    return start;
}

// Slow ones at the very start: more than 1.2 times the median, and far outside the usual scatter (five times the
// median absolute deviation, scaled to a standard deviation). At most a tenth of all, or one.
std::size_t startup_among(const std::vector<double>& times_ms) {
    std::vector<double> scratch = times_ms;
    const double median = percentile(scratch, .5);
    for (double& value : scratch) value = std::abs(value - median);
    const double limit = std::max(1.2 * median, median + 5 * 1.4826 * percentile(scratch, .5));
    const std::size_t most = std::max<std::size_t>(1, times_ms.size() / 10);
    std::size_t count = 0;
    while (count < most && times_ms[count] > limit) ++count;
    return count;
}

}  // namespace

Iterations find_iterations(std::span<const Event> events) {
    Iterations result;
    if (events.empty()) {
        result.remark = "no collectives were recorded";
        return result;
    }
    const std::optional<std::size_t> found = length_of(events);
    if (!found) {
        result.remark = "the sequence of collectives does not repeat itself";
        return result;
    }
    const std::size_t length = *found;
    const std::vector<Stretch> stretches = stretches_of(events, length);

    std::vector<double> times_ms;
    for (const Stretch& stretch : stretches) {
        // Each stretch has its own place of start: a stranger shifts what follows.
        const std::size_t start = start_of(events, stretch, length);
        for (std::size_t i = stretch.begin + (start == 0 ? length : start); i + length <= stretch.end; i += length) {
            const std::uint64_t begin = events[i - 1].completion_ns, end = events[i + length - 1].completion_ns;
            if (begin > 0 && end > begin) times_ms.push_back(static_cast<double>(end - begin) / 1e6);
        }
    }
    result.collectives = static_cast<int>(length);
    if (times_ms.size() < 2) {
        result.remark = "too few iterations to tell";
        return result;
    }
    result.startup = startup_among(times_ms);
    const auto steady = times_ms.begin() + static_cast<std::ptrdiff_t>(result.startup);
    for (auto time = times_ms.begin(); time != steady; ++time) result.startup_ms += *time;
    times_ms.erase(times_ms.begin(), steady);
    result.count = times_ms.size();
    result.mean_ms = mean_of(times_ms);
    result.cv = coefficient_of_variation(times_ms);
    result.p50_ms = percentile(times_ms, .50);
    result.p99_ms = percentile(times_ms, .99);
    return result;
}

}  // namespace paced::report
