// SPDX-License-Identifier: BSD-3-Clause
#include "policy/base/printable.h"

namespace paced {

std::string printable(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
        const bool c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0;  // U+0080 to U+009F
        const bool control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f || c1;
        result += control ? '?' : text[i];
        i += c1 ? 1 : 0;
    }
    return result;
}

}  // namespace paced
