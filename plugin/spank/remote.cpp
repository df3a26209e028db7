// SPDX-License-Identifier: BSD-3-Clause
// The start of a step inside slurmstepd. init and init_post_opt run as root, user_init with the user's effective id.
// Here descriptor 1 is slurmd's protocol pipe, and one byte on it holds the job: nothing is ever printed but through
// Slurm's log functions. Numbered steps only; the batch script, interactive shells and the extern step stay as they are.
#include <unistd.h>

#include "plugin/spank/contexts.h"
#include "plugin/spank/environment.h"
#include "plugin/spank/order.h"
#include "plugin/spank/order_answer.h"
#include "plugin/spank/programs.h"
#include "plugin/spank/state.h"
#include "plugin/spank/step.h"

namespace paced::spank {

constinit Step step;

std::uint32_t number_item(spank_t spank, spank_item_t item, std::uint32_t otherwise) noexcept {
    std::uint32_t number = 0;
    return spank_get_item(spank, item, &number) == ESPANK_SUCCESS ? number : otherwise;
}

void complete_flags(spank_t spank) noexcept {
    for (int i = 0; i < flag_count; ++i) {
        FlagValue& value = state.flags.values[i];
        if (!value.given) value.given = job_variable(spank, flag_names[i].carried, value.text);
    }
}

const char* launcher_daemon(spank_t spank) noexcept {
    int count = 0;
    char** arguments = nullptr;
    const bool known = spank_get_item(spank, S_JOB_ARGV, &count, &arguments) == ESPANK_SUCCESS && count > 0 && arguments != nullptr;
    return known && is_launcher_daemon(arguments[0]) ? arguments[0] : nullptr;
}

namespace remote {
namespace {

constinit char answer_text[answer_limit + 1];
constinit FixedText<placed_limit + 64> placed;

// SLURM_TOPOLOGY_ADDR ends in the name of this very node, and slurmstepd has just set it: "spine.leaf1.n3".
// SLURMD_NODENAME may still be that of the node where srun ran.
void find_node_name(spank_t spank, Name& name) noexcept {
    Path address;
    if (job_variable(spank, "SLURM_TOPOLOGY_ADDR", address) && !address.empty()) {
        std::string_view last = address.view();
        const std::size_t dot = last.rfind('.');
        if (dot != std::string_view::npos) last.remove_prefix(dot + 1);
        if (name.assign(last) && !name.empty()) return;
    }
    if (gethostname(name.raw(), Name::room()) != 0) name.clear();
    name.measure();
    std::string_view full = name.view();
    Name short_name;
    if (short_name.assign(cut_until(full, '.'))) name = short_name;
}

bool find_user(spank_t spank, Identity& user) noexcept {
    gid_t* groups = nullptr;
    int group_count = 0;
    if (spank_get_item(spank, S_JOB_UID, &user.uid) != ESPANK_SUCCESS || spank_get_item(spank, S_JOB_GID, &user.gid) != ESPANK_SUCCESS) return false;
    if (spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &groups, &group_count) == ESPANK_SUCCESS && groups != nullptr && group_count > 0) {
        user.groups = groups;
        user.group_count = group_count;
    }
    return true;
}

// Slurm says 0 nodes where it does not know; the step's own variable may.
std::uint32_t count_nodes(spank_t spank) noexcept {
    std::uint32_t nodes = number_item(spank, S_JOB_NNODES, 0);
    Name text;
    if (nodes == 0 && job_variable(spank, "SLURM_STEP_NUM_NODES", text) && !parse_number(text.view(), nodes)) nodes = 0;
    return nodes == 0 ? 1 : nodes;
}

bool launches_ranks_itself(spank_t spank) noexcept {
    const char* const daemon = launcher_daemon(spank);
    if (daemon != nullptr) slurm_debug("paced-fabric: %s launches the ranks itself; this step is left alone", daemon);
    return daemon != nullptr;
}

bool fill_environment(spank_t spank, HelperEnvironment& environment) noexcept {
    char** job_environment = nullptr;
    if (spank_get_item(spank, S_JOB_ENV, &job_environment) == ESPANK_SUCCESS) environment.take_from(job_environment);
    const Arguments& arguments = state.arguments;
    Path library, probe, key;
    find_library(library);
    find_program("paced-fabric-probe", probe);
    if (!job_variable(spank, carried_key, key) || !is_key(key.view())) key.clear();
    environment.set("CONFIG", arguments.config.view());
    environment.set("SNAPSHOT", step.snapshot.view());
    environment.set("PROBE", probe.view());
    environment.set("NODE_TOPOLOGY", arguments.node_topology.view());
    environment.set("LIBRARY", library.view());
    environment.set("TOPOLOGY_CONF", arguments.topology.view());
    for (int i = 0; i < flag_count; ++i) {
        const FlagValue& value = state.flags.values[i];
        if (value.given) environment.set_plain(flag_names[i].to_helper, value.text.view());
    }
    environment.set_number("JOB", step.job);
    environment.set_number("STEP", step.id);
    environment.set("NODE_NAME", step.node_name.view());
    environment.set_number("NODE_INDEX", step.node);
    environment.set_number("NODE_COUNT", step.nodes);
    environment.set_number("LOCAL_TASKS", step.local_tasks);
    environment.set_number("TASKS", step.tasks);
    environment.set("KEY", key.view());
    if (job_variable(spank, order::placed_variable, placed)) environment.set("PLACED", placed.view());
    return environment.complete();
}

// nullptr, or what went wrong.
const char* ask_helper(spank_t spank, Words& words) noexcept {
    Path helper;
    if (!find_program("paced-fabric-helper", helper)) return "there is no program paced-fabric-helper";
    HelperEnvironment& environment = HelperEnvironment::fresh();
    if (!fill_environment(spank, environment)) return "the job's environment is too large for the helper";

    const char* const program[] = {helper.c_str(), "step", nullptr};
    Child child;
    child.program = program;
    child.environment = environment.get();
    child.identity = &step.user;
    child.folder = step.folder.c_str();
    child.deadline_ms = state.arguments.deadline_ms;
    child.output = answer_text;
    child.room = answer_limit;
    const Outcome outcome = run(child);
    Words ending;
    describe(outcome, child.deadline_ms, ending);
    const char* refusal = outcome.good() ? step.answer.parse(answer_text, outcome.size, Answer::Form::step) : nullptr;
    words.assign("the helper ");
    if (!outcome.good()) words.append(ending.view());
    else if (refusal != nullptr && words.append("gave an answer that is not understood: ")) words.append(refusal);
    else return nullptr;
    return words.c_str();
}

}  // namespace

void init(spank_t spank, int count, char* const* words) noexcept { start(spank, count, words); }

void init_post_opt(spank_t spank) noexcept {
    step.id = number_item(spank, S_JOB_STEPID, ~0U);
    if (!is_numbered_step(step.id)) return;
    complete_flags(spank);
    const auto from_job = [spank](const char* name, Path& text) noexcept { return job_variable(spank, name, text); };
    step.wanted = what_is_wanted(state.flags, exists(state.arguments.config.c_str()), from_job);
    if (step.wanted == Wanted::no) return;
    if (launches_ranks_itself(spank) || !find_user(spank, step.user)) {
        step.wanted = Wanted::no;
        return;
    }
    step.job = number_item(spank, S_JOB_ID, 0);
    step.node = number_item(spank, S_JOB_NODEID, 0);
    step.nodes = count_nodes(spank);
    step.local_tasks = number_item(spank, S_JOB_LOCAL_TASK_COUNT, 0);
    step.tasks = number_item(spank, S_JOB_TOTAL_TASK_COUNT, 0);
    find_node_name(spank, step.node_name);
    this_node_is(step.node, step.node_name.view());
    ensure_snapshot(step.user, step.snapshot);
}

void user_init(spank_t spank) noexcept {
    if (step.wanted == Wanted::no) return;
    if (getcwd(step.folder.raw(), Path::room()) == nullptr) step.folder.assign("/");
    step.folder.measure();

    Words words;
    const char* const failure = ask_helper(spank, words);
    if (failure != nullptr) {
        tell("%s; this node's part of the step runs as it would without the plugin", failure);
        state.active = false;
        return;
    }
    AnswerLine line;
    for (std::size_t position = 0; step.answer.next(position, line);) {
        if (line.kind == AnswerLine::Kind::log) slurm_spank_log("%s", line.text);
    }
    step.engaged = step.answer.engages();
}

}  // namespace remote
}  // namespace paced::spank
