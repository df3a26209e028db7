// SPDX-License-Identifier: BSD-3-Clause
// The few text tools of a guest that may neither allocate nor throw nor link libstdc++. std::string_view serves for
// reading, but for substr() and starts_with(), which can call the library's throwers; FixedText serves for writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace paced::spank {

// A C string of bounded length. What does not fit is refused whole, never cut.
template <std::size_t capacity>
class FixedText {
public:
    bool append(std::string_view more) noexcept {
        if (more.size() >= capacity - size_) return false;
        if (!more.empty()) std::memcpy(data_ + size_, more.data(), more.size());
        size_ += more.size();
        data_[size_] = '\0';
        return true;
    }
    bool assign(std::string_view text) noexcept {
        clear();
        return append(text);
    }
    void clear() noexcept {
        size_ = 0;
        data_[0] = '\0';
    }

    const char* c_str() const noexcept { return data_; }
    std::string_view view() const noexcept { return {data_, size_}; }
    bool empty() const noexcept { return size_ == 0; }

    // For functions that fill a buffer: write a C string into raw(), then call measure().
    char* raw() noexcept { return data_; }
    static constexpr std::size_t room() noexcept { return capacity; }
    void measure() noexcept { size_ = strnlen(data_, capacity - 1); }

private:
    std::size_t size_ = 0;
    char data_[capacity] = {};
};

using Path = FixedText<4096>;  // PATH_MAX
using Name = FixedText<256>;   // of a variable, of a node

// Takes prefix off the front of text; false, and text untouched, where it does not begin so.
inline bool cut_prefix(std::string_view& text, std::string_view prefix) noexcept {
    if (text.size() < prefix.size() || std::memcmp(text.data(), prefix.data(), prefix.size()) != 0) return false;
    text.remove_prefix(prefix.size());
    return true;
}

// Cuts text at the first `mark`: what stands before it is returned, what stands behind it stays. Without a mark
// everything is returned and nothing stays.
inline std::string_view cut_until(std::string_view& text, char mark) noexcept {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) {
        const std::string_view all = text;
        text = {};
        return all;
    }
    const std::string_view head{text.data(), at};
    text.remove_prefix(at + 1);
    return head;
}

// Decimal digits alone, at most 9 of them: no sign, no blank, no overflow.
inline bool parse_number(std::string_view text, std::uint32_t& number) noexcept {
    if (text.empty() || text.size() > 9) return false;
    std::uint32_t value = 0;
    for (const char digit : text) {
        if (digit < '0' || digit > '9') return false;
        value = value * 10 + static_cast<std::uint32_t>(digit - '0');
    }
    number = value;
    return true;
}

}  // namespace paced::spank
