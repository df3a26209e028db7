// SPDX-License-Identifier: BSD-3-Clause
// The one place where the plugin makes a process. Whatever may hang, crash or be slow runs in such a child: with a
// deadline, limits, an environment of its own, and the privileges of the job's user alone.
#pragma once

#include <sys/types.h>

#include "plugin/spank/text.h"

namespace paced::spank {

// Who the child becomes, for good: no way back to root, no new privileges by exec.
struct Identity {
    uid_t uid = 0;
    gid_t gid = 0;
    const gid_t* groups = nullptr;
    int group_count = 0;
};

struct Child {
    // What it does: a program with its arguments (an absolute path first), or a function. A function runs in a copy of
    // a process with threads: system calls only, no allocation, no locks.
    const char* const* program = nullptr;
    int (*function)(const void* argument) = nullptr;
    const void* argument = nullptr;

    char* const* environment = nullptr;    // of a program
    const Identity* identity = nullptr;    // nullptr: stay who we are (sbatch, salloc, srun)
    const char* folder = nullptr;          // to work in, where it can be entered
    const char* needed_file = nullptr;     // do nothing where this file is not there
    int deadline_ms = 2000;

    // Its standard output (or, for captured_fd 2, its standard error), which must be shorter than `room`. Everything else is /dev/null.
    char* output = nullptr;
    std::size_t room = 0;
    int captured_fd = 1;
};

enum class Ending { exited, crashed, too_slow, too_much, not_started, not_needed };

struct Outcome {
    Ending ending = Ending::not_started;
    int code = 0;          // exit code, signal, or errno of what could not be started
    std::size_t size = 0;  // of the output
    bool good() const noexcept { return ending == Ending::exited && code == 0; }
};

// Always returns by the deadline plus a short grace, with the child ended and reaped.
Outcome run(const Child& child) noexcept;

// "did not answer within 2000 ms", "exited with code 3", …
using Words = FixedText<160>;
void describe(const Outcome& outcome, int deadline_ms, Words& words) noexcept;

}  // namespace paced::spank
