// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/step/child.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace paced::step {

namespace {

using Clock = std::chrono::steady_clock;

std::string name_of(const std::vector<std::string>& command) { return command.front().substr(command.front().rfind('/') + 1); }

// Reads until end of file. Empty: good; else why not.
std::string read_until(int descriptor, Clock::time_point end, std::size_t most_bytes, std::string& text) {
    char buffer[16 * 1024];
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        pollfd waiting{descriptor, POLLIN, 0};
        const int ready = left > 0 ? poll(&waiting, 1, static_cast<int>(left)) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return "did not answer in time";
        const ssize_t got = read(descriptor, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return std::string("cannot be read: ") + std::strerror(errno);
        if (got == 0) return {};
        text.append(buffer, static_cast<std::size_t>(got));
        if (text.size() > most_bytes) return "said more than it may";
    }
}

}  // namespace

Result<std::string> output_of(const std::vector<std::string>& command, std::chrono::milliseconds deadline, std::size_t most_bytes) {
    const auto end = Clock::now() + deadline;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return fail(std::string("no pipe: ") + std::strerror(errno));

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    char* no_environment[] = {nullptr};
    pid_t pid = 0;
    const int error = posix_spawn(&pid, command.front().c_str(), &actions, nullptr, arguments.data(), no_environment);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
        return fail(command.front() + ": " + std::strerror(error));
    }

    std::string text;
    std::string problem = read_until(ends[0], end, most_bytes, text);
    close(ends[0]);
    int status = 0;
    if (problem.empty()) {
        // It has closed its output; it may still hang.
        while (waitpid(pid, &status, WNOHANG) == 0 && problem.empty()) {
            if (Clock::now() >= end) problem = "did not end in time";
            poll(nullptr, 0, 1);
        }
        if (problem.empty()) {
            if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
            return fail(name_of(command) + (WIFEXITED(status) ? " ended with code " + std::to_string(WEXITSTATUS(status))
                                                              : " was ended by signal " + std::to_string(WTERMSIG(status))));
        }
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return fail(name_of(command) + ' ' + problem);
}

}  // namespace paced::step
