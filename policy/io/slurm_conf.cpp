// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/slurm_conf.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace paced::io {

namespace {

using Position = SlurmConfPair::Position;

// A line after continuation and comments are taken care of, each character with its place.
struct LogicalLine {
    std::string text;
    std::vector<Position> places;  // one more than text has characters
};

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}
bool is_key(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

class LineReader {
public:
    explicit LineReader(std::string_view text) : text_(text) {}

    bool next(LogicalLine& line) {
        line = {};
        if (position_ == text_.size()) return false;
        bool comment = false;
        while (position_ < text_.size()) {
            const char c = text_[position_];
            if (c == '\n') {
                line.places.push_back(here_);
                step();
                return true;
            }
            if (c == '\\' && at_line_end(position_ + 1)) {
                while (text_[position_] != '\n') step();
                step();
                comment = false;
                continue;
            }
            if (c == '\\' && !comment && position_ + 1 < text_.size() && text_[position_ + 1] == '#')
                step();  // "\#" is a plain '#'
            else if (c == '#')
                comment = true;
            if (!comment) {
                line.text += text_[position_];
                line.places.push_back(here_);
            }
            step();
        }
        line.places.push_back(here_);
        return true;
    }

private:
    // Only a '\r' may stand between a backslash and the end of the line.
    bool at_line_end(std::size_t position) const {
        if (position < text_.size() && text_[position] == '\r') ++position;
        return position < text_.size() && text_[position] == '\n';
    }

    void step() {
        if (text_[position_++] == '\n') {
            ++here_.line;
            here_.column = 1;
        } else {
            ++here_.column;
        }
    }

    std::string_view text_;
    std::size_t position_ = 0;
    Position here_;
};

class PairReader {
public:
    PairReader(const LogicalLine& line, const std::string& file, Diagnostics& diagnostics)
        : line_(line), text_(line.text), file_(file), diagnostics_(diagnostics) {}

    // The pairs before the first mistake.
    SlurmConfLine run() {
        SlurmConfLine pairs;
        for (skip_blanks(); position_ < text_.size(); skip_blanks()) {
            SlurmConfPair pair;
            if (!read_pair(pair, pairs.empty())) break;
            pairs.push_back(std::move(pair));
        }
        return pairs;
    }

private:
    Location place(std::size_t position) const { return {file_, line_.places[position].line, line_.places[position].column}; }

    void skip_blanks() {
        while (position_ < text_.size() && is_blank(text_[position_])) ++position_;
    }

    bool read_pair(SlurmConfPair& pair, bool first) {
        const std::size_t start = position_;
        while (position_ < text_.size() && is_key(text_[position_])) ++position_;
        pair.key = text_.substr(start, position_ - start);
        pair.key_position = line_.places[start];
        const bool blank = position_ < text_.size() && is_blank(text_[position_]);
        skip_blanks();
        const bool include = first && blank && same_key(pair.key, "Include") && position_ < text_.size() && text_[position_] != '=';
        if (!include) {
            if (pair.key.empty() || position_ == text_.size() || text_[position_] != '=') {
                std::size_t end = start;
                while (end < text_.size() && !is_blank(text_[end])) ++end;
                diagnostics_.error(place(start), "'" + std::string(text_.substr(start, end - start)) + "' is no Key=Value");
                return false;
            }
            ++position_;
            skip_blanks();
        }
        return read_value(pair);
    }

    bool read_value(SlurmConfPair& pair) {
        const bool quoted = position_ < text_.size() && text_[position_] == '"';
        const std::size_t open = position_;
        if (quoted) ++position_;
        const std::size_t start = position_;
        while (position_ < text_.size() && (quoted ? text_[position_] != '"' : !is_blank(text_[position_]))) ++position_;
        pair.value = text_.substr(start, position_ - start);
        for (std::size_t i = start; i <= position_; ++i) pair.value_positions.push_back(line_.places[i]);
        if (quoted && position_ == text_.size()) {
            diagnostics_.error(place(open), "this quote is not closed");
            return false;
        }
        if (quoted) ++position_;
        if (!pair.value.empty()) return true;
        diagnostics_.error(place(open), pair.key + " has no value");
        return false;
    }

    const LogicalLine& line_;
    std::string_view text_;
    const std::string& file_;
    std::size_t position_ = 0;
    Diagnostics& diagnostics_;
};

}  // namespace

std::vector<SlurmConfLine> parse_slurm_conf(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
    std::vector<SlurmConfLine> lines;
    LineReader reader(text);
    for (LogicalLine line; reader.next(line);) {
        SlurmConfLine pairs = PairReader(line, file, diagnostics).run();
        if (!pairs.empty()) lines.push_back(std::move(pairs));
    }
    return lines;
}

bool same_key(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
    });
}

}  // namespace paced::io
