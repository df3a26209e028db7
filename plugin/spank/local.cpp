// SPDX-License-Identifier: BSD-3-Clause
// Inside srun, as the user. init comes before srun reads options and environment, init_post_opt after, user_init when
// the step has been made.
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "plugin/spank/contexts.h"
#include "plugin/spank/order.h"
#include "plugin/spank/spawn.h"
#include "plugin/spank/state.h"
#include "plugin/spank/step.h"
#include "plugin/spank/submission.h"
#include "plugin/spank/switched_off.h"

namespace paced::spank::local {
namespace {

constexpr char daemons_left_alone[] =
    "mpirun's daemons are left alone: ranks started as 'mpirun … paced run -- PROGRAM' are recorded, others are not";
constexpr int write_deadline_ms = 200;
constinit bool said = false;

struct Message {
    pid_t to = 0;
    FixedText<4096 + 128> line;
};

// Whether all that is written to this descriptor lands at the file's end: "flags:" of its fdinfo, octal.
bool appends(pid_t pid) noexcept {
    char path[64], text[256] = {};
    std::snprintf(path, sizeof path, "/proc/%d/fdinfo/2", static_cast<int>(pid));
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, text, sizeof text - 1) <= 0) return false;
    const char* const flags = std::strstr(text, "flags:");
    return flags != nullptr && (std::strtoul(flags + 6, nullptr, 8) & O_APPEND) != 0;
}

// In a child, since the reader of a pipe may go away. A terminal, a pipe, or a file that is only appended to, as a job's
// log is: in any other file the next line of its owner would lie over ours.
int write_to_stderr_of(const void* argument) noexcept {
    const auto& message = *static_cast<const Message*>(argument);
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/fd/2", static_cast<int>(message.to));
    struct stat found{};
    if (stat(path, &found) != 0 || (S_ISREG(found.st_mode) && !appends(message.to))) return 1;
    const int file = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const std::string_view line = message.line.view();
    return file >= 0 && write(file, line.data(), line.size()) > 0 ? 0 : 1;
}

bool is_thrown_away(int descriptor) noexcept {
    struct stat found{};
    return fstat(descriptor, &found) == 0 && S_ISCHR(found.st_mode) && found.st_rdev == makedev(1, 3);
}

// Open MPI ties the stderr of its srun to /dev/null, so that nothing of its daemons is seen. The line is for the person
// who called mpirun, and goes where mpirun itself speaks.
void tell_user_of_mpirun(const char* text) noexcept {
    if (!is_thrown_away(STDERR_FILENO)) return tell("%s", text);
    static constinit Message message;
    message.to = getppid();
    if (!message.line.assign("paced-fabric: ") || !message.line.append(text) || !message.line.append("\n")) return;
    Child child;
    child.function = write_to_stderr_of;
    child.argument = &message;
    child.deadline_ms = write_deadline_ms;
    run(child);
}

}  // namespace

void init(spank_t spank, int count, char* const* words) noexcept {
    start(spank, count, words);
    // Outside a job this srun makes one of its own; whatever it finds of ours is left over from another.
    if (state.active && std::getenv("SLURM_JOB_ID") == nullptr) forget_inherited();
    if (state.active) order::before_options();
}

void init_post_opt() noexcept {
    order::after_options();
    hand_on(false);
}

// A step of mpirun's daemons is left alone, and what slurmstepd says there is lost. Who asked for us must hear of it.
void user_init(spank_t spank) noexcept {
    if (said || launcher_daemon(spank) == nullptr) return;
    for (int i = 0; i < flag_count; ++i) {
        FlagValue& value = state.flags.values[i];
        if (!value.given) value.given = own_variable(flag_names[i].carried, value.text);
    }
    if (what_is_wanted(state.flags, false, own_variable) != Wanted::asked) return;
    said = true;
    switched_off::Line off;
    if (state.switched_off) switched_off::describe(off);
    tell_user_of_mpirun(state.switched_off ? off.c_str() : daemons_left_alone);
}

}  // namespace paced::spank::local
