// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/ranges.h"

namespace paced::report {

std::string compress_numbers(std::span<const int> numbers, std::size_t ranges_max) {
    std::string text;
    std::size_t ranges = 0;
    for (std::size_t begin = 0; begin < numbers.size();) {
        std::size_t end = begin + 1;
        while (end < numbers.size() && numbers[end] - numbers[end - 1] <= 1) ++end;
        if (begin > 0) text += ',';
        if (ranges++ == ranges_max) return text + "...";
        text += std::to_string(numbers[begin]);
        if (numbers[end - 1] != numbers[begin]) text += (numbers[end - 1] == numbers[begin] + 1 ? ',' : '-') + std::to_string(numbers[end - 1]);
        begin = end;
    }
    return text;
}

}  // namespace paced::report
