// SPDX-License-Identifier: BSD-3-Clause
// Pacing in the two reports of a job log: what will be done, and what came of it.
#include <algorithm>

#include "policy/base/text.h"
#include "policy/config/pacing.h"
#include "policy/report/text.h"
#include "policy/report/text_layout.h"
#include "policy/report/text_parts.h"

namespace paced::report {

namespace {

constexpr std::size_t classes_shown_max = 3, classes_shown_full = 8;
constexpr double few_timeouts = 0.01;  // of the delays
// An end of an interval says nothing where it lies beyond half or twice the throughput of the estimate.
bool is_near(double percent, const Gain& gain) { return 100 + percent > (100 + gain.percent) / 2 && 100 + percent < (100 + gain.percent) * 2; }
// Whether the interval says more than nothing: it does not where its ends are a factor of 4 apart (half as fast, twice as fast).
bool is_known(const Gain& gain) { return 100 + gain.high <= 4 * (100 + gain.low); }

std::string interval_text(const Gain& gain) { return change_text(gain.low) + " to " + change_text(gain.high); }

std::string short_interval(const Gain& gain) {
    const bool low = is_near(gain.low, gain), high = is_near(gain.high, gain);
    if (!low && !high) return "not known";
    return (low ? change_text(gain.low) : "?") + " to " + (high ? change_text(gain.high) : "?");
}

std::vector<const Arm*> arms_of(const Report& report, const PacedClass& of) {
    std::vector<const Arm*> arms;
    for (const Arm& arm : report.arms)
        if (arm.label == of.label) arms.push_back(&arm);
    return arms;
}

// The setting that is engaged at the end, or else the last one that was; nullptr: none ever.
const Arm* engaged_of(const std::vector<const Arm*>& arms) {
    const Arm* last = nullptr;
    for (const Arm* arm : arms)
        if (arm->engaged_at_iteration && (last == nullptr || last->ended != "engaged")) last = arm;
    return last;
}

// Of those that made way for the engaged one, the one that is known best: what it gained still stands where the engaged one has not yet shown enough.
const Arm* replaced_of(const std::vector<const Arm*>& arms) {
    const Arm* best = nullptr;
    for (const Arm* arm : arms)
        if (arm->ended == "replaced" && arm->gain && is_known(*arm->gain) && (best == nullptr || arm->holdout_blocks > best->holdout_blocks)) best = arm;
    return best;
}

std::string cost_of(const PacedClass& of, const std::vector<const Arm*>& arms) {
    const bool any = std::any_of(arms.begin(), arms.end(), [](const Arm* arm) { return arm->pairs > 0; });
    if (of.total_ms <= 0 || !any) return {};
    return of.cost_ms <= 0 ? ". The experiments cost nothing" : ". The experiments cost " + percent_text(of.cost_ms / of.total_ms) + " of the time";
}

std::string claim_of(const Arm& arm) {
    return "ain in throughput " + change_text(arm.gain->percent) + " (95% interval " + interval_text(*arm.gain) + "), measured against " +
           count_of(arm.holdout_blocks, "block") + " without pacing in between";
}

// What is claimed of an engaged setting, and what stands beside it.
std::string gain_of(const Arm& arm) {
    std::string text = arm.meaning + " (" + arm.setting + ')';
    if (arm.gain && !is_known(*arm.gain)) {
        text += ". The gain is not known: the " + count_of(arm.holdout_blocks, "block") + " without pacing in between are too few, or differ too much, to tell";
    } else if (arm.gain) {
        text += ". G" + claim_of(arm);
        if (arm.gain->low <= 0 && arm.gain->high >= 0) text += ": too little to be sure of";
    } else {
        text += ". No gain is claimed: too few blocks without pacing came after that";
    }
    if (arm.mean_ms > 0) text += ". Iterations of " + time_text(arm.mean_ms) + ", CV " + cv_text(arm.cv);
    if (arm.mean_ms > 0 && arm.off_mean_ms > 0 && arm.gain && is_known(*arm.gain)) text += "; without it " + time_text(arm.off_mean_ms) + ", CV " + cv_text(arm.off_cv);
    if (arm.held_ms > 0) text += ". A rank was held for " + time_text(arm.held_ms) + " of an iteration in the mean";
    if (static_cast<double>(arm.timeouts) > few_timeouts * static_cast<double>(arm.held_calls))
        text += ". Of " + count_of(static_cast<long long>(arm.held_calls), "delay") + ' ' + std::to_string(arm.timeouts) + " ended by their deadline alone";
    return text;
}

// Why the class stands where it stands, where nothing was ever engaged.
std::string why_unpaced(const PolicyValues& policy, const PacedClass& of, const std::vector<const Arm*>& arms) {
    if (of.state == "persistent straggler") return "left alone, since one rank is late again and again: delaying the others would not help";
    if (of.state == "fault") return "switched off after something unexpected";
    if (of.state == "not applicable") return policy.longest_delay == "0" ? "left alone, since no delay is allowed" : "left alone: none of the ways to pace it applies here";
    std::string tried;
    if (!arms.empty()) {
        int blocks = 0;
        for (const Arm* arm : arms) blocks += arm->blocks;
        tried = ": " + count_of(static_cast<long long>(arms.size()), "setting") + " tried in " + count_of(blocks, "block") + ", none proved a gain";
    }
    if (of.state == "budget spent") return "not paced: the experiments had cost what they may" + tried;
    const auto is_undecided = [](const Arm* arm) { return arm->ended == "running" || arm->ended == "job ended"; };
    if (of.state == "another loop began") return "not paced: after " + count_of(static_cast<long long>(of.iterations), "iteration") + " the program went on to another loop" + tried;
    if (!arms.empty() && std::all_of(arms.begin(), arms.end(), is_undecided)) return "not paced: the job ended before the first experiment was decided";
    if (std::any_of(arms.begin(), arms.end(), is_undecided)) return "not paced: the job ended amid the experiments" + tried;
    if (arms.empty() && of.iterations == 0) return "not paced: its turn did not come, one class is tried at a time";
    // Its first blocks were not yet looked at, or one rank was under suspicion all the time.
    if (arms.empty() && (of.state == "running" || of.state == "job ended")) return "not paced: the job ended before the first experiment could begin, after " + count_of(static_cast<long long>(of.iterations), "iteration");
    if (arms.empty()) return "not paced: nothing to be gained showed in " + count_of(static_cast<long long>(of.blocks - of.void_blocks), "block") + " of iterations, so nothing was tried";
    return "not paced, nothing to be gained" + tried;
}

std::string outcome_of(const PolicyValues& policy, const PacedClass& of, const std::vector<const Arm*>& arms) {
    const Arm* engaged = engaged_of(arms);
    if (engaged == nullptr) return why_unpaced(policy, of, arms);
    std::uint64_t first = *engaged->engaged_at_iteration;
    for (const Arm* arm : arms)
        if (arm->ended == "replaced") first = std::min(first, arm->engaged_at_iteration.value_or(first));
    const std::string since = " from iteration " + std::to_string(first);
    if (engaged->ended == "engaged") {
        const std::string now = first < *engaged->engaged_at_iteration ? "since iteration " + std::to_string(*engaged->engaged_at_iteration) + ' ' : "";
        std::string text = "paced" + since + " on, " + now + gain_of(*engaged);
        const Arm* before = engaged->gain && is_known(*engaged->gain) ? nullptr : replaced_of(arms);
        if (before != nullptr) text += ". Before, with " + before->setting + ", a g" + claim_of(*before);
        return text;
    }
    return "paced for a while" + since + " on, then let go (" + engaged->ended + "): " + gain_of(*engaged);
}

// What the settings mean, each once.
std::string legend_of(const std::vector<const Arm*>& arms) {
    std::vector<std::string> meanings;
    for (const Arm* arm : arms)
        if (std::string one = arm->setting + ": " + arm->meaning; std::find(meanings.begin(), meanings.end(), one) == meanings.end()) meanings.push_back(std::move(one));
    return join(meanings, "; ");
}

void add_trials(Block& block, const std::vector<const Arm*>& arms, Level level) {
    TextTable table({{"tried", false, true}, {"iterations", true}, {"pairs", true}, {"blocks", true}, {"probe", true}, {"95% interval"}, {"held", true}, {"ended"}});
    for (const Arm* arm : arms)
        table.add({arm->setting, std::to_string(arm->first_iteration) + '-' + std::to_string(std::max(arm->first_iteration, arm->decided_at_iteration)),
                   std::to_string(arm->pairs), std::to_string(arm->blocks), arm->probe ? change_text(arm->probe->percent) : "-",
                   arm->probe ? short_interval(*arm->probe) : "-", time_text(arm->held_ms), arm->ended});
    block.add({}, table);
    if (level != Level::full) return;
    block.add({}, "iterations: until it was decided; probe: change of throughput in the experiment, against no pacing or, once a setting was engaged, against that; held: per rank and iteration");
    block.add({}, legend_of(arms));
}

// A benchmark's own: every setting against blocks without pacing, and nothing claimed.
void add_comparison(Block& block, const PacedClass& of, const std::vector<const Arm*>& arms, bool is_fixed) {
    if (is_fixed) {
        block.add("pacing", of.label + ": one setting from the start, for a benchmark, and nothing is claimed");
        for (const Arm* arm : arms)
            block.add({}, arm->meaning + " (" + arm->setting + "), " + count_of(arm->blocks, "block") + (arm->mean_ms > 0 ? ": iterations of " + time_text(arm->mean_ms) + ", CV " + cv_text(arm->cv) : "") +
                              ", a rank held for " + time_text(arm->held_ms) + " of an iteration in the mean");
        return;
    }
    block.add("pacing", of.label + ": a comparison for a benchmark, nothing is claimed");
    TextTable table({{"setting"}, {"", false, true}, {"rounds", true}, {"mean", true}, {"CV", true}, {"change", true}, {"95% interval"}});
    for (const Arm* arm : arms)
        table.add({arm->setting, arm->meaning, std::to_string(arm->pairs), arm->mean_ms > 0 ? time_text(arm->mean_ms) : "-", arm->mean_ms > 0 ? cv_text(arm->cv) : "-", arm->gain ? change_text(arm->gain->percent) : "-",
                   arm->gain ? short_interval(*arm->gain) : "-"});
    if (!table.empty()) block.add({}, table);
}

}  // namespace

void add_pacing_plan(Block& block, const PolicyValues& policy) {
    if (policy.mode_run != "pace") return;
    if (policy.longest_delay == "0") {
        block.add("pacing", "nothing is paced, since no delay is allowed (window 0 or window_max 0)");
    } else if (policy.pacing.value.starts_with("method=")) {
        block.add("pacing", "a benchmark runs instead of the law and may slow this job down (" + policy.pacing.source + "): " + policy.pacing.value);
    } else if (policy.exploration_percent <= 0) {
        block.add("pacing", "nothing is paced, since experiments may cost nothing (exploration_max_percent 0)");
    } else {
        block.add("pacing", "paces where it measurably helps, else steps aside; delays of one collective stay under " + policy.longest_delay +
                                ", experiments may cost " + config::number_text(policy.exploration_percent) + "% of the time");
        if (!policy.pacing.value.empty() && policy.pacing.source != "built-in") block.add({}, "set in " + policy.pacing.source + ": " + policy.pacing.value);
    }
}

void add_pacing(Block& block, const Report& report, Level level) {
    if (report.policy.mode_run != "pace" && !report.pacing) return;
    if (!report.pacing) {
        block.add("pacing", "nothing is known of it: the step's first node left no account that can be read");
        return;
    }
    if (report.pacing->classes.empty()) {
        block.add("pacing", "nothing was paced: no communicator repeats the same collectives in a way that can be measured");
        return;
    }
    const std::size_t most = level == Level::full ? classes_shown_full : classes_shown_max;
    for (std::size_t i = 0; i < report.pacing->classes.size() && i < most; ++i) {
        const PacedClass& of = report.pacing->classes[i];
        const std::vector<const Arm*> arms = arms_of(report, of);
        if (report.policy.pacing.value.starts_with("method=")) {
            add_comparison(block, of, arms, report.policy.pacing.value.starts_with("method=fixed"));
            continue;
        }
        const std::string resumed = of.resumed > 0 ? ". The program left this loop and came back to it " + count_of(of.resumed, "time") : "";
        block.add("pacing", of.label + ": " + outcome_of(report.policy, of, arms) + cost_of(of, arms) + resumed);
        // One line is enough where nothing was to be gained; who wants to know what was tried asks for full.
        if (!arms.empty() && (engaged_of(arms) != nullptr || level == Level::full)) add_trials(block, arms, level);
    }
    if (report.pacing->classes.size() > most) block.add({}, "and " + count_of(static_cast<long long>(report.pacing->classes.size() - most), "more class", "more classes"));
    if (!report.pacing->finished) block.add({}, "as it stood some seconds before the step was killed");
}

}  // namespace paced::report
