// SPDX-License-Identifier: BSD-3-Clause
#include "policy/config/pacing.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "policy/base/text.h"
#include "policy/config/site_policy.h"
#include "policy/pacing/setting.h"

namespace paced::config {

namespace {

constexpr std::array<std::string_view, 3> method_names{"ours", "fixed", "comparison"};  // in the order of pacing::Method
constexpr std::size_t longest_arms = 512;

std::optional<Error> check_arm(std::string_view arm, bool among_several) {
    std::vector<std::string_view> words;
    for (std::uint32_t i = 0; i < pacing::arm_count; ++i) words.emplace_back(pacing::name_of(static_cast<pacing::Arm>(i)));
    if (among_several) words.emplace_back("ours");
    const std::string_view word = arm.substr(0, arm.find(':'));
    if (std::find(words.begin(), words.end(), word) == words.end()) return Error{"unknown arm '" + std::string(word) + "'", hints_for(word, words)};
    // it travels as one word of "name=value name=value"
    const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == ':'; };
    if (std::all_of(arm.begin(), arm.end(), allowed)) return std::nullopt;
    return Error{"bad arm '" + std::string(arm) + "'", {"an arm and its numbers, such as 'admit:1', 'rate:25mbit' or 'fixed-delay:500us:300us'"}};
}

}  // namespace

Result<pacing::Method> parse_method(std::string_view text) {
    for (std::size_t i = 0; i < method_names.size(); ++i)
        if (text == method_names[i]) return static_cast<pacing::Method>(i);
    return fail("unknown method '" + std::string(text) + "'", hints_for(text, {method_names.begin(), method_names.end()}));
}

std::string to_string(pacing::Method method) { return std::string(method_names.at(static_cast<std::size_t>(method))); }

Result<std::string> parse_arm(std::string_view text) {
    if (text.find(',') != std::string_view::npos) return fail("'arm' takes one arm", {"several are for method 'comparison': arms = \"off,admit:1\""});
    if (auto error = check_arm(text, false)) return tl::unexpected<Error>(*std::move(error));
    return std::string(text);
}

Result<std::string> parse_arms(std::string_view text) {
    if (text.size() > longest_arms) return fail("'arms' is longer than " + std::to_string(longest_arms) + " characters");
    for (std::string_view arm : split(text, ','))
        if (auto error = check_arm(arm, true)) return tl::unexpected<Error>(*std::move(error));
    return std::string(text);
}

std::string number_text(double value) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return {text.data(), end};
}

const PacingConstant* find_pacing_constant(std::string_view name) {
    const auto found = std::find_if(std::begin(pacing_constants), std::end(pacing_constants), [&](const PacingConstant& one) { return one.name == name; });
    return found == std::end(pacing_constants) ? nullptr : found;
}

pacing::Tuning tuning_within(const Pacing& pacing, const Limits& limits) {
    pacing::Tuning tuning = pacing.tuning;
    tuning.exploration_percent = std::min(tuning.exploration_percent, limits.exploration_max_percent.value);
    return tuning;
}

std::string pacing_text(const Pacing& pacing, const Limits& limits) {
    const pacing::Tuning tuning = tuning_within(pacing, limits);
    std::vector<std::string> parts;
    if (tuning.method != pacing::Method::ours) parts.push_back("method=" + to_string(tuning.method));
    if (!pacing.arm.empty()) parts.push_back("arm=" + pacing.arm);
    if (!pacing.arms.empty()) parts.push_back("arms=" + pacing.arms);
    for (const PacingConstant& constant : pacing_constants)
        if (const double value = tuning.*constant.value; value != constant.standard) parts.push_back(std::string(constant.name) + '=' + number_text(value));
    return join(parts, " ");
}

}  // namespace paced::config
