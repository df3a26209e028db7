// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/report_line.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <poll.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

namespace paced::interposer {
namespace {

bool first_of_node() {
    constexpr const char* names[] = {"SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "LOCAL_RANK"};
    for (const char* name : names)
        if (const char* value = std::getenv(name)) return std::strcmp(value, "0") == 0;
    return true;
}

// A reader that has gone must not kill the host: SIGPIPE is held off in this thread, and taken back if it was ours.
void write_quietly(const char* text, std::size_t length) {
    pollfd out{STDERR_FILENO, POLLOUT, 0};
    if (poll(&out, 1, 0) != 1 || (out.revents & POLLOUT) == 0) return;  // a full pipe: better silent than stuck
    sigset_t pipe_signal, before, pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    if (pthread_sigmask(SIG_BLOCK, &pipe_signal, &before) != 0) return;
    if (write(STDERR_FILENO, text, length) < 0 && errno == EPIPE && !was_pending) {
        const timespec at_once{0, 0};
        sigtimedwait(&pipe_signal, nullptr, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void report_line(segment::Header* node, Notice kind, const char* text) {
    static bool spoken = false;
    if (__atomic_test_and_set(&spoken, __ATOMIC_RELAXED)) return;
    const auto bit = static_cast<std::uint32_t>(kind);
    if (node != nullptr ? (__atomic_fetch_or(&node->notices, bit, __ATOMIC_RELAXED) & bit) != 0 : !first_of_node()) return;
    const int error = errno;
    char line[512];
    const int length = std::snprintf(line, sizeof line, "paced-fabric: %s\n", text);
    if (length > 0) {
        const bool cut = static_cast<std::size_t>(length) >= sizeof line;
        if (cut) line[sizeof line - 2] = '\n';
        write_quietly(line, cut ? sizeof line - 1 : static_cast<std::size_t>(length));
    }
    errno = error;
}

}  // namespace paced::interposer
