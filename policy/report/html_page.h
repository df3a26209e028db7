// SPDX-License-Identifier: BSD-3-Clause
// A page that is one file: its style and its pictures stand in it, and it needs no script and no network.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paced::report {

// For text and for attributes in double quotes. Control characters become '?': names come from files.
std::string html_escaped(std::string_view text);

class HtmlPage {
public:
    explicit HtmlPage(std::string_view title);

    void heading(std::string_view words);
    void paragraph(std::string_view words);
    void note(std::string_view words);  // small, for how to read what stands above
    // Rows of cells; the first row is the head. right: whether a column holds numbers.
    void table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right);
    // Pictures beside each other where the window is wide enough. Each is one <svg>.
    struct Figure {
        std::string caption, svg;
    };
    void figures(const std::vector<Figure>& figures);

    // The whole text of the file.
    std::string take() &&;

private:
    std::string text_;
};

}  // namespace paced::report
