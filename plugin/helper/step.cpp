// SPDX-License-Identifier: BSD-3-Clause
// `paced-fabric-helper step`: policy, topology, plan, run folder, variables; the whole start of a step in one file.
// The first node prints the plan; another one speaks only of what goes wrong there. Whatever is missing costs one
// line and its own part of the step, nothing else.
#include <utility>

#include <unistd.h>

#include "plugin/helper/answer.h"
#include "plugin/helper/request.h"
#include "plugin/helper/site_policy.h"
#include "plugin/helper/step_binding.h"
#include "plugin/helper/step_order.h"
#include "plugin/helper/verbs.h"
#include "plugin/step/fabric_lookup.h"
#include "plugin/step/job_facts.h"
#include "plugin/step/leader.h"
#include "plugin/step/node_view.h"
#include "plugin/step/preload.h"
#include "plugin/step/report_file.h"
#include "plugin/step/step_setup.h"
#include "policy/base/text.h"
#include "policy/io/run_folder.h"
#include "policy/io/text_file.h"
#include "policy/report/plan_views.h"
#include "policy/report/text.h"

namespace paced::helper {

namespace {

constexpr int explained_nodes_max = 64;
constexpr std::chrono::milliseconds leader_deadline{700};

class StepAnswer {
public:
    explicit StepAnswer(const Request& request) : request_(request), answer_("paced-fabric-step 1") {}

    void log(const std::vector<std::string>& lines) { answer_.log(lines); }
    // For the whole step: said once, by the first node.
    void say(const std::string& text) {
        if (request_.first_node()) answer_.log("paced-fabric: " + text);
    }
    // For this node.
    void say_here(const std::string& text) {
        answer_.log("paced-fabric: " + (request_.node_count > 1 ? request_.node_name + ": " : std::string()) + text);
    }
    bool add(std::string_view kind, std::string_view value) { return answer_.add(kind, value); }
    int end(std::string_view mode) {
        answer_.add("mode", mode);
        return io::write_all(STDOUT_FILENO, answer_.text()) ? 0 : 3;
    }

private:
    const Request& request_;
    Answer answer_;
};

// What the user has set for himself and we leave alone.
std::vector<std::string> kept_settings(const Request& request, const Environment& environment) {
    std::vector<std::string> names;
    for (const char* name : {"NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "NCCL_TOPO_FILE", "UCX_NET_DEVICES", "GLOO_SOCKET_IFNAME",
                             "NVSHMEM_HCA_LIST", "MPIR_CVAR_CH4_OFI_PREF_NIC"})
        if (environment.get(name)) names.emplace_back(name);
    std::vector<std::string> kept;
    if (!names.empty()) kept.push_back("your " + join(names, ", ") + (names.size() == 1 ? " stays as it is" : " stay as they are"));
    std::vector<std::string> preloads;
    for (std::string_view entry : split(request.user_preload, ':'))
        if (!entry.empty() && entry != request.library) preloads.emplace_back(entry);  // ours is there in a step from within a task
    if (!preloads.empty()) kept.push_back("your LD_PRELOAD stays, behind our library: " + join(preloads, ":"));
    return kept;
}

// How the job lies on the fabric, and the order of its ranks.
void place_ranks(const Request& request, const Result<topology::FabricTopology>& fabric, const config::Effective& effective, report::JobPlan& plan) {
    plan.order = step_order(request, effective, fabric);
    if (plan.order.applied && plan.order.hosts.size() == request.hosts.size()) plan.job.hosts = plan.order.hosts;
    if (request.hosts.empty()) plan.fabric.problem = "the step's nodes are not known, so neither is their place";
    else if (fabric) plan.fabric = report::fabric_view(*fabric, plan.job.hosts);
    else plan.fabric.problem = "switches are not known: " + fabric.error().message;
}

struct StepPlan {
    report::JobPlan shown;
    StepBinding binding;
    std::string leaf;  // the switch of this node; empty: not known, or nobody needs it
};

StepPlan make_plan(const Request& request, const Environment& environment, const config::Effective& effective, StepAnswer& answer) {
    StepPlan made;
    report::JobPlan& plan = made.shown;
    plan.job.id = request.job;
    plan.job.step = request.step;
    plan.job.stamp = request.stamp;
    plan.job.user = environment.get_or("SLURM_JOB_USER", "");
    plan.job.name = environment.get_or("SLURM_JOB_NAME", "");
    plan.job.hosts = request.hosts;
    if (request.placed && request.placed->hosts.size() == request.hosts.size()) plan.job.hosts = request.placed->hosts;
    plan.job.tasks = request.tasks;
    plan.policy = report::policy_view(effective, effective.mode.value);
    // The order is the same seen from anywhere, and the first node's plan alone is shown; whoever paces needs to know each node's leaf.
    const bool paces = effective.mode.value == config::Mode::pace;
    if (request.node_count > 1 && (request.first_node() || paces)) {
        const Result<topology::FabricTopology> fabric = step::read_fabric(request.topology_conf, environment);
        if (request.first_node()) place_ranks(request, fabric, effective, plan);
        if (paces && fabric) made.leaf = step::leaf_of(*fabric, request.node_name);
    }
    if (auto node = step::node_topology({request.snapshot, request.probe, request.node_topology})) {
        made.binding = bind_step(request, environment, effective, std::move(*node));
        plan.node = made.binding.plan;
    } else {
        plan.node.remark = "topology unknown: " + node.error().message;
        if (!request.first_node()) answer.say_here(plan.node.remark);
    }
    plan.node.node = request.node_name;
    plan.node.index = request.node_index;
    plan.node.local_tasks = request.local_tasks;
    plan.kept = kept_settings(request, environment);
    plan.kept.insert(plan.kept.end(), made.binding.kept.begin(), made.binding.kept.end());
    if (!effective.report.value.path.empty())
        plan.report_path = step::report_path(effective.report.value.path, request.job, request.step, request.folder);
    return made;
}

// The first node's address for the exchange; empty where this node stays alone with its records.
std::string leader_of(const Request& request, StepAnswer& answer) {
    if (request.node_count == 1) return "self";
    if (request.key.empty()) {
        answer.say("the report is of the first node alone: this step has no key (the job was submitted where the plugin is absent, or srun was started from within a task)");
        return {};
    }
    if (request.first_node()) return "self";
    const Result<std::string> leader = request.hosts.empty() ? fail("the step's nodes are not known (no SLURM_STEP_NODELIST)")
                                                             : step::find_leader(request.hosts.front(), request.node_name, leader_deadline);
    if (leader && *leader != "self") return *leader;
    if (leader) {
        answer.say_here("its records stay out of the report: " + request.hosts.front() + " resolves to an address of this node");
        return {};
    }
    answer.say_here("its records stay out of the report: " + leader.error().message);
    return {};
}

// Run folder, plan file, variables, library. False: this node's tasks run without us, and the answer says why.
bool set_up_tasks(const Request& request, const config::Effective& effective, const StepPlan& plan, StepAnswer& answer) {
    if (access(request.library.c_str(), R_OK) != 0) {
        answer.say_here("nothing is recorded: " + (request.library.empty() ? std::string("libpaced_fabric.so") : request.library) + " is missing");
        return false;
    }
    io::RunFolderRequest wanted;
    wanted.session = io::session_name(request.job + '.' + request.step);
    wanted.owner = getppid();  // slurmstepd lives as long as the step
    wanted.key = request.key;
    const Result<io::RunFolder> folder = io::join_run_folder(wanted);
    if (!folder) {
        answer.say_here("nothing is recorded: " + folder.error().message);
        return false;
    }
    io::sweep_dead_run_folders();

    step::StepSetup setup;
    setup.stamp = request.stamp;
    setup.session = wanted.session;
    setup.run_dir = folder->path;
    setup.key_file = folder->key_file;
    setup.plan_file = folder->path + "/plan.json";
    setup.leader = leader_of(request, answer);
    setup.node = request.node_name;
    setup.node_count = request.node_count;
    setup.leaf = plan.leaf;
    if (const auto problem = step::replace_file(setup.plan_file, to_json(plan.shown), 0600)) {
        answer.say_here(*problem);
        setup.plan_file.clear();
    }
    answer.add("run-dir", folder->path);  // first of all: from here on there is something to clean
    const Result<std::string> library = step::preloadable_path(request.library, folder->path);
    if (!library) {
        answer.say_here("nothing is recorded: " + library.error().message);
        return false;
    }
    answer.add("leader", setup.leader == "self" || (setup.leader.empty() && request.first_node()) ? "yes" : "no");
    for (const auto& [name, value] : variables(setup, effective)) answer.add("env", name + '=' + value);
    for (const auto& [kind, value] : plan.binding.lines) answer.add(kind, value);
    answer.add("preload", *library);
    return true;
}

}  // namespace

int step(const Environment& environment) {
    const Request request = read_request(environment);
    StepAnswer answer(request);

    const SitePolicyOrReason policy = read_policy(request.config);
    if (!policy.off_because.empty()) {
        if (request.asked(environment)) answer.say(policy.off_because);
        return answer.end("off");
    }
    Diagnostics diagnostics;
    const config::Effective effective = resolve(policy.site, request.flags, environment, step::job_facts(environment), diagnostics);
    for (const Diagnostic& entry : diagnostics.entries())
        answer.say(to_string(entry.location) + " is ignored: " + entry.message + (entry.hints.empty() ? "" : "; " + entry.hints.front()));
    if (effective.mode.value == config::Mode::off) {
        if (!effective.idle_note.empty()) answer.say(effective.idle_note);
        return answer.end("off");
    }

    const StepPlan plan = make_plan(request, environment, effective, answer);

    const bool explains = effective.mode.value == config::Mode::explain;
    // Whoever asks for an explanation wants to read it.
    const report::Level level = explains ? report::Level::full : effective.report.value.level;
    if (request.first_node()) answer.log(head_lines(plan.shown, level));
    else if (explains && request.node_index < explained_nodes_max) answer.log(report::node_lines(plan.shown.node));
    if (explains) {
        answer.say("explain: nothing of this step was changed");
        return answer.end("explain");
    }
    return answer.end(set_up_tasks(request, effective, plan, answer) ? to_string(effective.mode.value) : "off");
}

}  // namespace paced::helper
