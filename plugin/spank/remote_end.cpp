// SPDX-License-Identifier: BSD-3-Clause
// The end of a step inside slurmstepd, as root: the leader's node lets the helper write the report, every node clears
// its run folder. Both happen in children that are the user, since the folder is his to fill with links.
#include <csignal>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plugin/spank/contexts.h"
#include "plugin/spank/environment.h"
#include "plugin/spank/programs.h"
#include "plugin/spank/state.h"
#include "plugin/spank/step.h"

namespace paced::spank::remote {
namespace {

constexpr int finish_deadline_ms = 10'000;
constexpr int clean_deadline_ms = 2'000;
constexpr int most_files = 65'536;
constexpr int most_kills = 4;
constexpr useconds_t after_kill_us = 20'000;
constinit char finish_text[answer_limit + 1];

// Where Slurm kills a step it kills whatever descends from slurmstepd, and may do so more than once: what the end of the
// step starts meanwhile is hit too, and is tried again; with SIGTERM first, where it is a cancellation. The user may kill
// it too, so all tries together have the one deadline: Slurm drains a node whose step does not come to its end.
Outcome run_in_spite_of_kills(Child child) noexcept {
    timespec begin{}, now{};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const int deadline_ms = child.deadline_ms;
    Outcome outcome = run(child);
    for (int left = most_kills; left > 0 && outcome.ending == Ending::crashed && (outcome.code == SIGKILL || outcome.code == SIGTERM); --left) {
        usleep(after_kill_us);
        clock_gettime(CLOCK_MONOTONIC, &now);
        const long long gone_ms = (now.tv_sec - begin.tv_sec) * 1000LL + (now.tv_nsec - begin.tv_nsec) / 1'000'000;
        if (gone_ms >= deadline_ms) break;
        child.deadline_ms = static_cast<int>(deadline_ms - gone_ms);
        outcome = run(child);
    }
    return outcome;
}

void write_report(spank_t spank) noexcept {
    Path helper, segment;
    if (!segment.assign(step.answer.run_dir().view()) || !segment.append("/segment")) return;
    if (!find_program("paced-fabric-helper", helper)) return;
    HelperEnvironment& environment = HelperEnvironment::fresh();
    char** job_environment = nullptr;
    if (spank_get_item(spank, S_JOB_ENV, &job_environment) == ESPANK_SUCCESS) environment.take_from(job_environment);
    environment.set_plain("PACED_FABRIC_STEP_RUN_DIR", step.answer.run_dir().view());

    const char* const program[] = {helper.c_str(), "finish", nullptr};
    Child child;
    child.program = program;
    child.environment = environment.get();
    child.identity = &step.user;
    child.folder = step.folder.c_str();
    child.needed_file = segment.c_str();
    child.deadline_ms = finish_deadline_ms;
    child.output = finish_text;
    child.room = answer_limit;
    const Outcome outcome = run_in_spite_of_kills(child);
    if (outcome.ending == Ending::not_needed) {
        const bool wants_nothing = state.flags.values[flag_report].text.view() == "none";
        if (step.wanted == Wanted::asked && !wants_nothing) tell("no rank of this step got through MPI_Init; nothing was recorded");
        return;
    }
    Answer answer;
    Words words;
    describe(outcome, child.deadline_ms, words);
    const char* const refusal = outcome.good() ? answer.parse(finish_text, outcome.size, Answer::Form::finish) : words.c_str();
    if (refusal != nullptr) {
        tell("no report: the helper %s%s", outcome.good() ? "gave an answer that is not understood: " : "", refusal);
        return;
    }
    AnswerLine line;
    for (std::size_t position = 0; answer.next(position, line);) slurm_spank_log("%s", line.text);
}

struct DirectoryEntry {  // linux_dirent64, which no header declares
    std::uint64_t inode;
    std::int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[1];
};

// In a child that is the user, by system calls alone. A run folder is flat; unlinking follows no link and no folder. The
// user's folder above it stays, since another launch may just be about to use it.
int clean_run_dir(const void* argument) noexcept {
    const auto* const path = static_cast<const char*>(argument);
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat found{};
    if (folder < 0 || fstat(folder, &found) != 0 || found.st_uid != getuid()) return 0;
    alignas(DirectoryEntry) char entries[16 * 1024];
    for (int left = most_files; left > 0;) {
        const long got = syscall(SYS_getdents64, folder, entries, sizeof entries);
        if (got <= 0) break;
        for (long at = 0; at < got; --left) {
            const auto* const entry = reinterpret_cast<const DirectoryEntry*>(entries + at);
            const char* const name = entries + at + offsetof(DirectoryEntry, name);
            unlinkat(folder, name, 0);
            at += entry->length;
        }
    }
    rmdir(path);
    return 0;
}

void end(spank_t spank) noexcept {
    if (step.ended) return;
    step.ended = true;
    if (step.answer.run_dir().empty()) return;
    if (step.engaged && step.answer.leader()) write_report(spank);
    Child child;
    child.function = clean_run_dir;
    child.argument = step.answer.run_dir().c_str();
    child.identity = &step.user;
    child.deadline_ms = clean_deadline_ms;
    run_in_spite_of_kills(child);
}

}  // namespace

void task_exit(spank_t spank) noexcept {
    ++step.tasks_ended;
    if (step.tasks_ended == step.local_tasks) end(spank);
}

// Where task_exit did not come for every task: a launch that failed half way. The job's stderr is closed by now.
void exit(spank_t spank) noexcept { end(spank); }

}  // namespace paced::spank::remote
