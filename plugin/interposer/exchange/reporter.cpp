// SPDX-License-Identifier: BSD-3-Clause
// The host may have a SIGCHLD handler, or wait for any child in a loop of its own: a child of ours must show in neither.
// A process made by clone(2) without an exit signal is such a child, but only until it execs: execve sets the exit signal
// back to SIGCHLD (fs/exec.c, de_thread). So there are two: a middleman without exit signal, which never execs, and the
// program as its child. The middleman shares our memory (CLONE_VM, no copy of what may be a very large process) and
// CLONE_VFORK stops this thread until it is done, so it may use our stack's neighbour and our errno. glibc's fork and
// posix_spawn are not used: the one runs the host's atfork handlers, the other makes a child that the host sees.
#include "plugin/interposer/exchange/reporter.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin/interposer/shared.h"

extern char** environ;

namespace paced::interposer {
namespace {

constexpr std::size_t stack_size = 64 * 1024;

struct Job {
    const char* program;
    char** environment;
    char* stack;  // two of stack_size
    std::uint64_t deadline_ns;
    bool succeeded;
};

// Of the program: the host's handlers are not its own, its standard output is the host's alone.
int become_program(void* context) {
    const Job& job = *static_cast<Job*>(context);
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    for (int signal = 1; signal < 65; ++signal) sigaction(signal, &usual, nullptr);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    const int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
    }
    char finish[] = "finish", to_stderr[] = "--stderr";
    char* const arguments[] = {const_cast<char*>(job.program), finish, to_stderr, nullptr};
    execve(job.program, arguments, job.environment);
    _exit(127);
}

int stand_between(void* context) {
    Job& job = *static_cast<Job*>(context);
    const pid_t child = clone(become_program, job.stack + 2 * stack_size, CLONE_VM | CLONE_VFORK | SIGCHLD, context);
    if (child < 0) _exit(0);
    int status = 0;
    for (;;) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) break;
        if (ended < 0 && errno != EINTR) break;
        if (now_ns() > job.deadline_ns) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            _exit(0);
        }
        const timespec moment{0, 2'000'000};
        nanosleep(&moment, nullptr);
    }
    job.succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    _exit(0);
}

}  // namespace

bool run_reporter(const char* program, std::uint64_t limit_ns) {
    // The environment without LD_PRELOAD: the report's program is none of the tools' that the host was given.
    std::size_t count = 0;
    while (environ != nullptr && environ[count] != nullptr) ++count;
    const std::size_t environment_size = (count + 1) * sizeof(char*);
    const std::size_t size = 2 * stack_size + environment_size;
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return false;
    Job job{program, reinterpret_cast<char**>(static_cast<char*>(memory) + 2 * stack_size), static_cast<char*>(memory), now_ns() + limit_ns, false};
    for (std::size_t i = 0, kept = 0; i < count; ++i)
        if (std::strncmp(environ[i], "LD_PRELOAD=", 11) != 0) job.environment[kept++] = environ[i];

    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = errno;
    const pid_t middleman = clone(stand_between, job.stack + stack_size, CLONE_VM | CLONE_VFORK, &job);
    if (middleman > 0)
        while (waitpid(middleman, nullptr, __WCLONE) < 0 && errno == EINTR) {}
    errno = error;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    munmap(memory, size);
    return middleman > 0 && job.succeeded;
}

}  // namespace paced::interposer
