// SPDX-License-Identifier: BSD-3-Clause
// Where Slurm gives a task devices of its own, it does so between user_init, where the helper is asked, and task_init.
// So the answer holds both: what a task gets by its local id, if it sees what the whole step sees, and what goes with each
// device. The task's own variables, compared with those that the helper saw, tell which of the two holds.
#include "plugin/spank/binding.h"

#include <iterator>

#include <sched.h>

#include "plugin/spank/environment.h"
#include "plugin/spank/state.h"
#include "plugin/spank/step.h"

namespace paced::spank {
namespace {

using Kind = AnswerLine::Kind;

bool is_first(std::uint32_t task) noexcept { return task == 0; }  // of its node: one line a node is enough

// How this task is looked up in the answer.
struct Lookup {
    enum class By { local_id, device, nothing };
    By by = By::local_id;
    Name variable;  // by device: which
    Path devices;   // and its value: "2,3"
};

// By the first variable that differs from what the step sees; the helper names the surest first.
void find_lookup(spank_t spank, Lookup& lookup) noexcept {
    AnswerLine line;
    for (std::size_t position = 0; step.answer.next(position, line);) {
        if (line.kind != Kind::sees) continue;
        const spank_err_t got = spank_getenv(spank, line.name.c_str(), lookup.devices.raw(), static_cast<int>(Path::room()));
        if (got != ESPANK_SUCCESS) lookup.devices.clear();
        lookup.devices.measure();
        const bool set = got == ESPANK_SUCCESS, was_set = line.text != nullptr;
        if (got != ESPANK_NOSPACE && set == was_set && (!set || lookup.devices.view() == line.text)) continue;
        lookup.by = set && lookup.variable.assign(line.name.view()) ? Lookup::By::device : Lookup::By::nothing;
        return;
    }
}

std::string_view without_blanks(std::string_view text) noexcept {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

// Whether the answer knows this device at all.
bool is_known(const Lookup& lookup, std::string_view device) noexcept {
    AnswerLine line;
    for (std::size_t position = 0; step.answer.next(position, line);) {
        if ((line.kind == Kind::gpu || line.kind == Kind::gpu_cpus) && line.variable.view() == lookup.variable.view() && line.entry == device) return true;
    }
    return false;
}

bool all_known(const Lookup& lookup) noexcept {
    std::string_view left = lookup.devices.view();
    if (left.empty()) return false;
    while (!left.empty()) {
        if (!is_known(lookup, without_blanks(cut_until(left, ',')))) return false;
    }
    return true;
}

bool has_device(const Lookup& lookup, std::string_view device, bool first_only) noexcept {
    for (std::string_view left = lookup.devices.view(); !left.empty();) {
        if (without_blanks(cut_until(left, ',')) == device) return true;
        if (first_only) return false;
    }
    return false;
}

// Whether a line is for this task: of several devices the first one's variables, but the cores of all.
bool is_for(const Lookup& lookup, std::uint32_t task, const AnswerLine& line) noexcept {
    switch (line.kind) {
        case Kind::task_environment:
        case Kind::cpus: return lookup.by == Lookup::By::local_id && list_has(line.tasks, task);
        case Kind::gpu:
        case Kind::gpu_cpus:
            return lookup.by == Lookup::By::device && line.variable.view() == lookup.variable.view() &&
                   has_device(lookup, line.entry, line.kind == Kind::gpu);
        default: return false;
    }
}

// Never more than the task has, and nothing where it has been bound already: with fewer CPUs than the step has on this
// node somebody chose them.
void narrow(spank_t spank, std::uint32_t task, const CpuMask& wanted, const char* list) noexcept {
    CpuMask allowed;
    auto* const kernel_mask = reinterpret_cast<cpu_set_t*>(allowed.words);
    if (sched_getaffinity(0, sizeof allowed.words, kernel_mask) != 0) return;
    std::uint32_t count = 0, step_cpus = 0;
    for (const unsigned long word : allowed.words) count += static_cast<std::uint32_t>(__builtin_popcountl(word));
    Name text;
    if (job_variable(spank, "SLURM_CPUS_ON_NODE", text) && parse_number(text.view(), step_cpus) && count < step_cpus) {
        if (is_first(task)) tell("the tasks' cores stay as they are: they are bound already (%u of the step's %u CPUs)", count, step_cpus);
        return;
    }
    bool any = false;
    for (std::size_t i = 0; i < std::size(allowed.words); ++i) any = (allowed.words[i] &= wanted.words[i]) != 0 || any;
    if (!any || sched_setaffinity(0, sizeof allowed.words, kernel_mask) != 0)
        tell("task %u keeps the cores that Slurm gave it; %s are not among them", task, list);
}

}  // namespace

void bind_task(spank_t spank, std::uint32_t task) noexcept {
    Lookup lookup;
    find_lookup(spank, lookup);
    if (lookup.by == Lookup::By::device && !all_known(lookup)) lookup.by = Lookup::By::nothing;

    AnswerLine line;
    CpuMask wanted;
    Path lists;  // to be told
    bool any_cpus = false;
    for (std::size_t position = 0; step.answer.next(position, line);) {
        if (!is_for(lookup, task, line)) continue;
        if (line.kind == Kind::cpus || line.kind == Kind::gpu_cpus) {
            any_cpus = parse_cpus(line.text, wanted) || any_cpus;
            if (!lists.empty()) lists.append(",");
            lists.append(line.text);
        } else if (!line.name.empty()) {
            spank_setenv(spank, line.name.c_str(), line.text, 0);
        }
    }
    if (any_cpus) narrow(spank, task, wanted, lists.c_str());
}

}  // namespace paced::spank
