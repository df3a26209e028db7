// SPDX-License-Identifier: BSD-3-Clause
// A text line by line, without a copy.
#pragma once

#include <string_view>

namespace paced::io {

class TextLines {
public:
    explicit TextLines(std::string_view text) : rest_(text) {}

    // The next line, without its end ("\n" or "\r\n"). False: there is none; a newline at the end of the text starts none.
    bool next(std::string_view& line) {
        if (rest_.empty()) return false;
        const std::size_t end = rest_.find('\n');
        line = rest_.substr(0, end);
        rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        ++number_;
        return true;
    }
    int number() const { return number_; }  // of the line that next() gave, from 1

private:
    std::string_view rest_;
    int number_ = 0;
};

}  // namespace paced::io
