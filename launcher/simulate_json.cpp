// SPDX-License-Identifier: BSD-3-Clause
// `paced simulate --json`: one object (docs/simulate.md has its keys). Times in it are ms, throughput samples a second.
#include <cmath>

#include <nlohmann/json.hpp>

#include "launcher/simulate.h"
#include "policy/report/pacing_accounts.h"

namespace paced::launcher {

namespace {

using Json = nlohmann::ordered_json;
using simulation::Case;
using simulation::CaseResult;
using simulation::Estimate;
using simulation::Row;

// Six digits: no more is meant, and two builds print the same.
Json number(double value) {
    if (!std::isfinite(value)) return nullptr;
    if (value == 0) return 0;
    const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::abs(value))));
    return std::round(value * scale) / scale;
}

Json interval(const Estimate& estimate, double scale = 1) { return {number(scale * estimate.low), number(scale * estimate.high)}; }

Json load_of(const CaseResult& one) {
    Json levels = Json::array();
    for (const simulation::LevelLoad& level : one.load)
        levels.push_back({{"level", level.level}, {"links", level.links}, {"mean", number(level.mean)}, {"most", number(level.most)}});
    return levels;
}

Json classes_of(const CaseResult& one) {
    Json classes = Json::array();
    for (const simulation::ClassResult& of : one.classes) {
        Json trials = Json::array();
        for (std::uint32_t i = 0; i < of.account.count; ++i) {
            const pacing::Trial& trial = of.account.trials[i];
            const bool claims = trial.holdout_blocks > 1 && trial.gain_low < trial.gain_high;
            trials.push_back({{"setting", report::spelling_of(trial.setting)},
                              {"pairs", trial.pairs},
                              {"blocks", trial.blocks},
                              {"engaged_at_iteration", trial.engaged_iteration > 0 ? Json(trial.engaged_iteration) : Json(nullptr)},
                              {"ended", pacing::name_of(trial.ended)},
                              {"ours", trial.ours},
                              {"mean_ms", trial.mean_ms > 0 ? number(trial.mean_ms) : Json(nullptr)},
                              {"cv", trial.mean_ms > 0 ? number(trial.cv) : Json(nullptr)},
                              {"gain_percent", claims ? number(trial.gain) : Json(nullptr)}});
        }
        classes.push_back({{"communicators", of.facts.communicators},
                           {"size", of.facts.size},
                           {"bytes", of.bytes},
                           {"across_leaves", of.facts.crosses},
                           {"state", pacing::name_of(of.account.state)},
                           {"engaged", report::spelling_of(of.account.engaged)},
                           {"trials", std::move(trials)}});
    }
    return classes;
}

Json case_of(const CaseResult& one) {
    constexpr double ms = 1e3;
    const simulation::Shares& shares = one.shares;
    Json json{{"throughput", number(one.throughput.value)},
              {"throughput_ci95", interval(one.throughput)},
              {"cv", number(one.cv.value)},
              {"cv_ci95", interval(one.cv)},
              {"mean", number(ms * one.mean_s.value)},
              {"mean_ci95", interval(one.mean_s, ms)},
              {"p50", number(ms * one.p50_s.value)},
              {"p99", number(ms * one.p99_s.value)},
              {"p99_ci95", interval(one.p99_s, ms)}};
    if (one.ran != Case::baseline) {
        json["gain_percent"] = number(one.gain_percent.value);
        json["gain_ci95"] = interval(one.gain_percent);
    }
    json["stalls"] = one.stalls;
    json["steps_crossing"] = number(one.steps_crossing);
    json["shares"] = {{"compute", number(ms * shares.compute)},   {"stolen", number(ms * shares.stolen)}, {"waiting", number(ms * shares.waiting)},
                      {"held", number(ms * shares.held)},         {"transfer", number(ms * shares.transfer)}, {"stalls", number(ms * shares.stalls)}};
    json["load"] = load_of(one);
    if (!one.classes.empty()) json["classes"] = classes_of(one);
    return json;
}

Json row_of(const Row& row) {
    Json json{{"nodes", row.nodes}, {"ranks", row.ranks}};
    for (const CaseResult& one : row.cases) json[name_of(one.ran)] = case_of(one);
    const CaseResult* paced = find_case(row, Case::paced);
    json["gain_percent"] = paced == nullptr ? Json(nullptr) : number(paced->gain_percent.value);
    json["gain_ci95"] = paced == nullptr ? Json(nullptr) : interval(paced->gain_percent);
    json["events"] = row.events;
    json["order_reasons"] = row.reasons;
    return json;
}

}  // namespace

std::string simulate_json(const Simulated& simulated) {
    const simulation::Result& result = simulated.result;
    Json json{{"scenario", result.scenario}, {"seeds", result.seeds}, {"iterations", result.iterations}};
    json["rows"] = Json::array();
    for (const Row& row : result.rows) json["rows"].push_back(row_of(row));
    json["model"] = {{"hash", simulated.file.hash}, {"fitted_on", simulated.file.fitted_on.empty() ? Json(nullptr) : Json(simulated.file.fitted_on)}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace paced::launcher
