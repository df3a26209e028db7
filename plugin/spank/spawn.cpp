// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/spank/spawn.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace paced::spank {
namespace {

// Exit codes of a child that did not get as far as its work, above those of our programs and below a shell's own.
constexpr int code_not_needed = 100;
constexpr int code_no_privilege = 101;
constexpr int code_no_program = 102;

long long now_ms() noexcept {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1'000'000;
}

void nap() noexcept {
    const timespec time{0, 200'000};
    nanosleep(&time, nullptr);
}

// ---- in the child: from fork to exec, system calls alone -----------------------------------------------------------

void close_all_from(unsigned first) noexcept {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0U, 0U) == 0) return;
#endif
    rlimit limit{};
    const bool known = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65'536;
    for (int fd = static_cast<int>(first); fd < (known ? static_cast<int>(limit.rlim_cur) : 65'536); ++fd) close(fd);
}

void limit_resource(__rlimit_resource_t resource, rlim_t most) noexcept {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_cur < most ? limit.rlim_cur : most;
    limit.rlim_max = limit.rlim_max < most ? limit.rlim_max : most;
    setrlimit(resource, &limit);
}

bool become(const Identity& identity) noexcept {
    const uid_t uid = identity.uid;
    const gid_t gid = identity.gid;
    if (getuid() != 0 && getuid() == uid && geteuid() == uid) return true;  // a slurmd of this very user
    // In user_init the real id is root's, the effective one the user's.
    if (geteuid() != 0 && seteuid(0) != 0) return false;
    if (setgroups(static_cast<std::size_t>(identity.group_count), identity.groups) != 0) return false;
    if (setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0) return false;
    return uid == 0 || (setuid(0) != 0 && seteuid(0) != 0);
}

bool arrange_descriptors(int captured_fd, int pipe_end) noexcept {
    // Above 2 first: in a process started with closed descriptors the pipe itself may be one of them.
    const int out = fcntl(pipe_end, F_DUPFD, 3);
    const int null = open("/dev/null", O_RDWR);
    if (out < 0 || null < 0) return false;
    for (int fd = 0; fd <= 2; ++fd) {
        const int wanted = fd == captured_fd ? out : null;
        if (wanted != fd && dup2(wanted, fd) < 0) return false;
    }
    close_all_from(3);
    return true;
}

[[noreturn]] void be_child(const Child& child, int pipe_end) noexcept {
    setsid();  // a group of its own, so that its own children end with it
    if (!arrange_descriptors(child.captured_fd, pipe_end)) _exit(code_no_privilege);
    for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    limit_resource(RLIMIT_CORE, 0);
    limit_resource(RLIMIT_CPU, static_cast<rlim_t>(child.deadline_ms / 1000 + 2));
    limit_resource(RLIMIT_AS, rlim_t{4} << 30);
    if (child.identity != nullptr && !become(*child.identity)) _exit(code_no_privilege);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(code_no_privilege);
    if (child.folder != nullptr && chdir(child.folder) != 0 && chdir("/") != 0) _exit(code_no_privilege);
    if (child.needed_file != nullptr && access(child.needed_file, F_OK) != 0) _exit(code_not_needed);
    if (child.function != nullptr) _exit(child.function(child.argument));
    execve(child.program[0], const_cast<char* const*>(child.program), child.environment);
    _exit(code_no_program);
}

// ---- in the parent --------------------------------------------------------------------------------------------------

enum class Reading { ended, too_slow, too_much };

Reading read_until(int fd, long long deadline, const Child& child, std::size_t& size) noexcept {
    size = 0;
    while (true) {
        const long long left = deadline - now_ms();
        if (left <= 0) return Reading::too_slow;
        pollfd waiting{fd, POLLIN, 0};
        const int ready = poll(&waiting, 1, static_cast<int>(left));
        if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
        if (ready < 0) return Reading::ended;
        char spare;
        const bool full = size >= child.room;
        const ssize_t got = full ? read(fd, &spare, 1) : read(fd, child.output + size, child.room - size);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) return Reading::ended;
        if (full) return Reading::too_much;
        size += static_cast<std::size_t>(got);
    }
}

// True once the child is reaped. ECHILD: this process ignores SIGCHLD, the kernel reaped it, and its status is lost.
bool reap_until(pid_t pid, long long deadline, int& status) noexcept {
    while (true) {
        const pid_t reaped = waitpid(pid, &status, WNOHANG);
        if (reaped == pid) return true;
        if (reaped < 0 && errno != EINTR) {
            status = 0;
            return true;
        }
        if (now_ms() >= deadline) return false;
        nap();
    }
}

Outcome judge(int status) noexcept {
    if (WIFSIGNALED(status)) return {Ending::crashed, WTERMSIG(status)};
    const int code = WEXITSTATUS(status);
    if (code == code_not_needed) return {Ending::not_needed};
    if (code == code_no_privilege) return {Ending::not_started, EPERM};
    if (code == code_no_program) return {Ending::not_started, ENOENT};
    return {Ending::exited, code};
}

}  // namespace

Outcome run(const Child& child) noexcept {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return {Ending::not_started, errno};
    const long long deadline = now_ms() + child.deadline_ms;
    const pid_t pid = fork();
    if (pid == 0) be_child(child, ends[1]);
    const int fork_error = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return {Ending::not_started, fork_error};
    }

    Outcome outcome;
    std::size_t size = 0;
    int status = 0;
    const Reading reading = read_until(ends[0], deadline, child, size);
    if (reading == Reading::ended && reap_until(pid, deadline, status)) {
        outcome = judge(status);
    } else {
        outcome.ending = reading == Reading::too_much ? Ending::too_much : Ending::too_slow;
        if (kill(-pid, SIGKILL) != 0) kill(pid, SIGKILL);
        // A second is ample, but for a child stuck in the kernel: that one is left to init rather than waited for.
        reap_until(pid, now_ms() + 1000, status);
    }
    close(ends[0]);
    outcome.size = size;
    return outcome;
}

void describe(const Outcome& outcome, int deadline_ms, Words& words) noexcept {
    char* const text = words.raw();
    const std::size_t room = Words::room();
    switch (outcome.ending) {
        case Ending::exited: std::snprintf(text, room, "exited with code %d", outcome.code); break;
        case Ending::crashed: std::snprintf(text, room, "was ended by signal %d", outcome.code); break;
        case Ending::too_slow: std::snprintf(text, room, "did not answer within %d ms", deadline_ms); break;
        case Ending::too_much: std::snprintf(text, room, "answered too much"); break;
        case Ending::not_started: std::snprintf(text, room, "could not be started (%s)", std::strerror(outcome.code)); break;
        case Ending::not_needed: std::snprintf(text, room, "was not needed"); break;
    }
    words.measure();
}

}  // namespace paced::spank
