// SPDX-License-Identifier: BSD-3-Clause
#include "tests/doubles/run_program.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace paced::test {

namespace {

[[noreturn]] void become(const std::vector<std::string>& command, const RunOptions& options) {
    if (options.clean) {
        const std::string path = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
        const std::string home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
        clearenv();
        setenv("PATH", path.c_str(), 1);
        setenv("HOME", home.c_str(), 1);
    }
    // programs of a sanitizer build that are started with an LD_PRELOAD
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 0);
    for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    if (options.folder.empty() || chdir(options.folder.c_str()) == 0) execvp(arguments[0], arguments.data());
    dprintf(2, "run_program: cannot run %s: %s\n", arguments[0], std::strerror(errno));
    _exit(125);
}

}  // namespace

Outcome run_program(const std::vector<std::string>& command, const RunOptions& options) {
    Outcome outcome;
    std::array<int, 2> out{}, err{};
    if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) return outcome;
    const pid_t child = fork();
    if (child == 0) {
        dup2(out[1], 1);
        dup2(err[1], 2);
        become(command, options);
    }
    close(out[1]);
    close(err[1]);
    std::array<pollfd, 2> sources{pollfd{out[0], POLLIN, 0}, pollfd{err[0], POLLIN, 0}};
    std::array<std::string*, 2> texts{&outcome.out, &outcome.err};
    for (int open = 2; open > 0;) {
        if (poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) break;
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (sources[i].fd < 0 || sources[i].revents == 0) continue;
            char buffer[4096];
            const ssize_t got = read(sources[i].fd, buffer, sizeof buffer);
            if (got > 0) {
                texts[i]->append(buffer, static_cast<std::size_t>(got));
            } else {
                sources[i].fd = -1;
                --open;
            }
        }
    }
    close(out[0]);
    close(err[0]);
    int status = 0;
    waitpid(child, &status, 0);
    outcome.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return outcome;
}

}  // namespace paced::test
