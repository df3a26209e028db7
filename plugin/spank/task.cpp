// SPDX-License-Identifier: BSD-3-Clause
// A task of a numbered step, forked and already the user, just before exec. Descriptors 1 and 2 are the task's own.
// What the user or Slurm has set is never overwritten: of the answer, only PACED_FABRIC_STEP_* replaces anything.
#include <unistd.h>

#include "plugin/spank/binding.h"
#include "plugin/spank/contexts.h"
#include "plugin/spank/environment.h"
#include "plugin/spank/state.h"
#include "plugin/spank/step.h"

namespace paced::spank::task {
namespace {

bool is_first(std::uint32_t task) noexcept { return task == 0; }  // of its node: one line a node is enough

void preload(spank_t spank, std::uint32_t task, const char* library) noexcept {
    PreloadList theirs, merged;
    if (access(library, R_OK) != 0) {
        // In a container, say. ld.so would complain at every exec of the job.
        if (is_first(task)) tell("%s is not there for the tasks; nothing will be recorded", library);
        return;
    }
    const spank_err_t got = spank_getenv(spank, "LD_PRELOAD", theirs.raw(), static_cast<int>(PreloadList::room()));
    if (got != ESPANK_SUCCESS) theirs.clear();
    theirs.measure();
    if (got == ESPANK_NOSPACE || !merge_preload(library, theirs.view(), merged)) {
        if (is_first(task)) tell("LD_PRELOAD is too long to add to; nothing will be recorded");
        return;
    }
    spank_setenv(spank, "LD_PRELOAD", merged.c_str(), 1);
}

}  // namespace

void init(spank_t spank) noexcept {
    if (!step.engaged) return;
    int id = -1;
    if (spank_get_item(spank, S_TASK_ID, &id) != ESPANK_SUCCESS || id < 0) return;
    const auto task = static_cast<std::uint32_t>(id);

    AnswerLine line;
    for (std::size_t position = 0; step.answer.next(position, line);) {
        using Kind = AnswerLine::Kind;
        std::string_view name = line.name.view();
        const bool ours = cut_prefix(name, "PACED_FABRIC_STEP_");
        if (line.kind == Kind::environment) spank_setenv(spank, line.name.c_str(), line.text, ours ? 1 : 0);
        else if (line.kind == Kind::preload) preload(spank, task, line.text);
    }
    bind_task(spank, task);
    // The flags stay, for an srun inside the task; the key has been handed over in a file.
    spank_unsetenv(spank, carried_key);
}

}  // namespace paced::spank::task
