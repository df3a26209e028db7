// SPDX-License-Identifier: BSD-3-Clause
// Files of plain data in a run folder, as their readers need them: opened without trust, taken apart by copying. Internal to
// policy/io.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paced::io {

// Takes plain data off the front of a byte span, copying, so that alignment and a writer at work do not matter.
class ByteCursor {
public:
    explicit ByteCursor(std::span<const std::byte> bytes) : rest_(bytes) {}

    template <class T>
    bool take(T& value) {
        if (rest_.size() < sizeof(T)) return false;
        std::memcpy(&value, rest_.data(), sizeof(T));
        rest_ = rest_.subspan(sizeof(T));
        return true;
    }
    std::optional<std::span<const std::byte>> take_bytes(std::uint64_t count) {
        if (rest_.size() < count) return std::nullopt;
        const auto front = rest_.first(count);
        rest_ = rest_.subspan(count);
        return front;
    }
    std::size_t left() const { return rest_.size(); }

private:
    std::span<const std::byte> rest_;
};

// A fixed-size text: up to the first NUL, and printable, since it ends on terminals and in file names.
template <std::size_t N>
std::string text_of(const char (&name)[N]) {
    std::string text(name, strnlen(name, N));
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return text;
}

// A regular file opened without following a link; its size.
class RegularFile {
public:
    explicit RegularFile(const std::string& path);
    ~RegularFile();
    RegularFile(const RegularFile&) = delete;
    RegularFile& operator=(const RegularFile&) = delete;

    bool is_missing() const { return missing_; }
    const std::string& problem() const { return problem_; }  // empty: it is open
    std::uint64_t size() const { return size_; }

    // Up to count bytes at offset, appended; fewer only at the end of the file or on an error.
    void read(std::uint64_t offset, std::uint64_t count, std::vector<std::byte>& to) const;

private:
    int descriptor_;
    bool missing_ = false;
    std::uint64_t size_ = 0;
    std::string problem_;
};

}  // namespace paced::io
