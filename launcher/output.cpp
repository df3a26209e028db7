// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/output.h"

#include <cstdio>

#include "launcher/commands.h"
#include "policy/base/printable.h"

namespace paced::launcher {

int print_result(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return exit_done;
    std::perror("error: cannot write");
    return exit_surroundings_failed;
}

int print_text(std::string_view text) {
    return print_result(printable(text));
}

}  // namespace paced::launcher
