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

constexpr std::array methods{pacing::Method::ours, pacing::Method::fixed, pacing::Method::comparison};
constexpr std::size_t longest_arms = 512;

std::optional<Error> check_word(std::string_view arm, bool among_several) {
    std::vector<std::string_view> words;
    for (std::uint32_t i = 0; i < pacing::arm_count; ++i) words.emplace_back(pacing::name_of(static_cast<pacing::Arm>(i)));
    if (among_several) words.emplace_back("ours");
    const std::string_view word = arm.substr(0, arm.find(':'));
    if (std::find(words.begin(), words.end(), word) != words.end()) return std::nullopt;
    return Error{"unknown arm '" + std::string(word) + "'", hints_for(word, words)};
}

// As the law itself reads it on the node that decides.
std::optional<Error> check_as_the_law(std::string_view key, std::string_view text, const std::string& whole) {
    pacing::Tuning tuning;
    pacing::WrongToken wrong;
    // a blank would begin another token, and with it another setting
    const bool one_word = text.find_first_of(" \t\n") == std::string_view::npos;
    if (one_word && parse_tuning(whole.data(), whole.size(), tuning, wrong)) return std::nullopt;
    std::string message = "bad '" + std::string(key) + "' '" + std::string(text) + "'";
    if (one_word && *wrong.why != '\0') message.append(": ").append(wrong.why);
    return Error{std::move(message), {"an arm and its numbers, such as 'admit:1', 'slots:10ms', 'rate:25mbit' or 'fixed-delay:500us:300us'"}};
}

}  // namespace

Result<pacing::Method> parse_method(std::string_view text) {
    std::vector<std::string_view> words;
    for (pacing::Method method : methods) {
        words.emplace_back(name_of(method));
        if (text == words.back()) return method;
    }
    return fail("unknown method '" + std::string(text) + "'", hints_for(text, words));
}

std::string to_string(pacing::Method method) { return name_of(method); }

Result<std::string> parse_arm(std::string_view text) {
    if (text.find(',') != std::string_view::npos) return fail("'arm' takes one arm", {"several are for method 'comparison': arms = \"off,admit:1\""});
    auto error = check_word(text, false);
    if (!error) error = check_as_the_law("arm", text, "method=fixed arm=" + std::string(text));
    if (error) return tl::unexpected<Error>(*std::move(error));
    return std::string(text);
}

Result<std::string> parse_arms(std::string_view text) {
    if (text.size() > longest_arms) return fail("'arms' is longer than " + std::to_string(longest_arms) + " characters");
    std::optional<Error> error;
    for (std::string_view arm : split(text, ','))
        if (!error) error = check_word(arm, true);
    if (!error) error = check_as_the_law("arms", text, "method=comparison arms=" + std::string(text));
    if (error) return tl::unexpected<Error>(*std::move(error));
    return std::string(text);
}

Result<std::string> parse_without(std::string_view text) {
    if (text.size() > longest_arms) return fail("'without' is longer than " + std::to_string(longest_arms) + " characters");
    std::optional<Error> error;
    for (std::string_view arm : split(text, ','))
        if (!error) error = check_word(arm, false);
    if (!error) error = check_as_the_law("without", text, "without=" + std::string(text));
    if (error) return tl::unexpected<Error>(*std::move(error));
    return std::string(text);
}

std::string number_text(double value) {
    std::array<char, 400> text{};  // the largest double has 309 digits
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed).ptr;
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
    if (!pacing.without.empty()) parts.push_back("without=" + pacing.without);
    if (!pacing.arm.empty()) parts.push_back("arm=" + pacing.arm);
    if (!pacing.arms.empty()) parts.push_back("arms=" + pacing.arms);
    for (const PacingConstant& constant : pacing_constants)
        if (const double value = tuning.*constant.value; value != constant.standard) parts.push_back(std::string(constant.name) + '=' + number_text(value));
    return join(parts, " ");
}

}  // namespace paced::config
