// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/html_page.h"

#include <utility>

#include "policy/base/printable.h"

namespace paced::report {

namespace {

constexpr std::string_view style = R"(
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1f2430; background: #fff; max-width: 1180px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
p { max-width: 46rem; margin: .5rem 0; }
.note, figcaption { color: #5a6172; font-size: .9rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .75rem 0; }
th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid #e3e6ec; font-weight: normal; }
th { color: #5a6172; vertical-align: bottom; }
.right { text-align: right; }
.wide { overflow-x: auto; }
.figures { display: flex; flex-wrap: wrap; gap: 1.5rem; }
figure { margin: .5rem 0; flex: 1 1 30rem; min-width: 0; }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; fill: #1f2430; }
svg .axis { stroke: #8a91a1; }
svg .grid { stroke: #e3e6ec; }
svg .label { fill: #5a6172; }
svg .curve { fill: none; stroke-width: 2; }
svg .dashed { stroke-dasharray: 5 4; }
svg .spread { stroke-width: 1.5; opacity: .6; }
)";

}  // namespace

std::string html_escaped(std::string_view text) {
    std::string escaped;
    for (const char c : printable(text)) {
        switch (c) {
            case '&': escaped += "&amp;"; break;
            case '<': escaped += "&lt;"; break;
            case '>': escaped += "&gt;"; break;
            case '"': escaped += "&quot;"; break;
            default: escaped += c;
        }
    }
    return escaped;
}

HtmlPage::HtmlPage(std::string_view title) {
    const std::string words = html_escaped(title);
    text_ = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" + words + "</title>\n<style>";
    text_.append(style).append("</style>\n</head>\n<body>\n<h1>").append(words).append("</h1>\n");
}

void HtmlPage::heading(std::string_view words) { text_ += "<h2>" + html_escaped(words) + "</h2>\n"; }

void HtmlPage::paragraph(std::string_view words) { text_ += "<p>" + html_escaped(words) + "</p>\n"; }

void HtmlPage::note(std::string_view words) { text_ += "<p class=\"note\">" + html_escaped(words) + "</p>\n"; }

void HtmlPage::table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right) {
    text_ += "<div class=\"wide\"><table>\n";
    std::string_view kind = "th";
    for (const auto& row : rows) {
        text_ += "<tr>";
        for (std::size_t i = 0; i < row.size(); ++i) {
            text_.append("<").append(kind).append(i < right.size() && right[i] ? " class=\"right\">" : ">");
            text_.append(html_escaped(row[i])).append("</").append(kind).append(">");
        }
        text_ += "</tr>\n";
        kind = "td";
    }
    text_ += "</table></div>\n";
}

void HtmlPage::figures(const std::vector<Figure>& figures) {
    text_ += "<div class=\"figures\">\n";
    for (const Figure& figure : figures) text_ += "<figure><figcaption>" + html_escaped(figure.caption) + "</figcaption>\n" + figure.svg + "</figure>\n";
    text_ += "</div>\n";
}

std::string HtmlPage::take() && { return std::move(text_) + "</body>\n</html>\n"; }

}  // namespace paced::report
