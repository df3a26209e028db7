// SPDX-License-Identifier: BSD-3-Clause
// paced-fabric-helper: the part of the plugin that may take its time, read files and fail (PROTOCOL.md). The shim
// starts it as the job's user with a deadline. It starts in every step on every node, so it is one small program: no
// hwloc, no streams, libc alone at run time.
// Exit codes: 0 answered; 1 refused (check-flag); 2 usage; 3 could not tell.
#include <cstdio>
#include <exception>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "plugin/helper/verbs.h"

namespace {

int usage() {
    std::fputs("usage: paced-fabric-helper check-flag NAME VALUE | order SRUN [WORD]... | step | finish [--stderr]\n", stderr);
    return 2;
}

int run(int argc, char** argv) {
    using namespace paced::helper;
    const std::string_view verb = argc > 1 ? argv[1] : "";
    const paced::Environment environment = paced::Environment::capture();
    if (verb == "check-flag" && argc == 4) return check_flag(environment, argv[2], argv[3]);
    if (verb == "order" && argc >= 3) return order(environment, {argv + 2, argv + argc});
    if (verb == "step" && argc == 2) return step(environment);
    if (verb == "finish" && argc == 2) return finish(environment, false);
    if (verb == "finish" && argc == 3 && std::string_view(argv[2]) == "--stderr") return finish(environment, true);
    return usage();
}

}  // namespace

int main(int argc, char** argv) {
    // A closed standard descriptor must not be given to a file that we open.
    for (int descriptor = 0; descriptor < 3; ++descriptor)
        if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) return 3;
    int code = 3;
    try {
        code = run(argc, argv);
    } catch (const std::exception& error) {  // memory, or a bug: the step goes on without us
        std::fprintf(stderr, "paced-fabric-helper: %s\n", error.what());
    }
    // A name server that never answers has left a thread behind: nobody waits for it.
    std::fflush(stderr);
    _exit(code);
}
