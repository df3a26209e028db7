// SPDX-License-Identifier: BSD-3-Clause
// Small helpers on text that several rooms need.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paced {

std::string_view trim(std::string_view text);
// "a,b,,c" by ',' gives a, b, "", c; an empty text gives one empty part.
std::vector<std::string_view> split(std::string_view text, char separator);
// A loop over the parts of a temporary would read what is gone.
template <std::same_as<std::string> Text>
std::vector<std::string_view> split(Text&& text, char separator) = delete;
std::string join(std::span<const std::string> parts, std::string_view separator);

// A whole decimal number, nothing before or behind it; nullopt otherwise or where it does not fit.
std::optional<long long> parse_integer(std::string_view text);

// The candidate nearest to word by edit distance (insert, delete, replace, swap of neighbours), if it is near
// enough to be a slip of the finger: at most a third of the word's length, at least one.
std::optional<std::string> did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

// "'off', 'observe' or 'pace'"
std::string quoted_list(std::span<const std::string_view> words);

// The hints for a word that is none of the valid ones: "did you mean 'pace'?" where one is near, then
// "valid: 'off', 'observe' or 'pace'".
std::vector<std::string> hints_for(std::string_view word, std::span<const std::string_view> valid);

// "1 node", "2 nodes"
std::string count_of(long long count, std::string_view singular, std::string_view plural = {});

}  // namespace paced
