// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/helper/srun_line.h"

#include <algorithm>
#include <string_view>

namespace paced::helper {

namespace {

using Takes = SrunOption::Takes;

const SrunOption* by_letter(char letter) {
    const auto options = srun_options();
    const auto found = std::find_if(options.begin(), options.end(), [letter](const SrunOption& option) { return option.letter == letter; });
    return found == options.end() ? nullptr : &*found;
}

// The whole name, or a beginning of it that no other option has.
const SrunOption* by_name(std::string_view name, bool& ambiguous) {
    const SrunOption* found = nullptr;
    ambiguous = false;
    for (const SrunOption& option : srun_options()) {
        if (option.name == name) {
            ambiguous = false;
            return &option;
        }
        if (!option.name.starts_with(name)) continue;
        ambiguous = ambiguous || found != nullptr;
        found = &option;
    }
    return ambiguous ? nullptr : found;
}

class Reader {
public:
    explicit Reader(std::span<const std::string> words) : words_(words) {}

    SrunLine run() {
        while (line_.problem.empty() && at_ < words_.size() && words_[at_].size() > 1 && words_[at_].front() == '-') {
            const std::string& word = words_[at_++];
            if (word == "--") break;
            if (word[1] == '-') read_long(word);
            else read_letters(word);
        }
        if (!line_.problem.empty() || at_ >= words_.size()) return std::move(line_);
        line_.program = words_[at_];
        line_.heterogeneous = std::find(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end(), ":") != words_.end();
        return std::move(line_);
    }

private:
    bool next_word(const std::string& text, std::string& value) {
        if (at_ < words_.size()) {
            value = words_[at_++];
            return true;
        }
        line_.problem = text + " lacks its value";
        return false;
    }

    void read_long(const std::string& word) {
        const std::size_t equals = word.find('=');
        const std::string text = word.substr(0, equals);
        bool ambiguous = false;
        const SrunOption* const option = by_name(std::string_view(text).substr(2), ambiguous);
        if (option == nullptr) {
            line_.problem = text + (ambiguous ? " can mean several options" : " is an option not known here");
            return;
        }
        SrunLine::Given given{option, std::nullopt, "--" + std::string(option->name)};
        if (equals != std::string::npos) {
            given.value = word.substr(equals + 1);
            if (option->takes == Takes::nothing) line_.problem = given.text + " takes no value";
        } else if (option->takes == Takes::value) {
            std::string value;
            if (next_word(given.text, value)) given.value = std::move(value);
        }
        if (line_.problem.empty()) line_.options.push_back(std::move(given));
    }

    // "-lN4", "-n8", "-n 8": letters until one takes the rest, or the next word.
    void read_letters(const std::string& word) {
        for (std::size_t i = 1; i < word.size(); ++i) {
            const std::string text{'-', word[i]};
            const SrunOption* const option = by_letter(word[i]);
            if (option == nullptr) {
                line_.problem = text + " is an option not known here";
                return;
            }
            SrunLine::Given given{option, std::nullopt, text};
            const bool has_rest = i + 1 < word.size();
            if (option->takes != Takes::nothing && has_rest) {
                given.value = word.substr(i + 1);
            } else if (option->takes == Takes::value) {
                std::string value;
                if (!next_word(text, value)) return;
                given.value = std::move(value);
            }
            line_.options.push_back(std::move(given));
            if (option->takes != Takes::nothing) return;
        }
    }

    std::span<const std::string> words_;
    std::size_t at_ = 1;
    SrunLine line_;
};

}  // namespace

SrunLine parse_srun_line(std::span<const std::string> words) { return Reader(words).run(); }

}  // namespace paced::helper
