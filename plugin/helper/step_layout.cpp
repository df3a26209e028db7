// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/helper/step_layout.h"

#include <array>
#include <climits>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "policy/base/text.h"
#include "policy/topology/host_list.h"

namespace paced::helper {

namespace {

using Role = SrunOption::Role;

constexpr std::size_t fewest_nodes = 3;                    // a ring of two has one order
constexpr unsigned pmi2_follows = 24u << 16 | 5u << 8;     // 24.05: mpi/pmi2 maps processes by an arbitrary layout
constexpr unsigned numbered_steps_end = 0xfffffff0;        // above stand the batch script and interactive shells

// srun takes these variables for options.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> refused_variables{{
    {"SLURM_HOSTFILE", "is an order of your own"},
    {"SLURM_DISTRIBUTION", "is an order of your own"},
    {"SLURM_EXACT", "asks for a part of the job"},
    {"SLURM_EXCLUSIVE", "asks for a part of the job"},
    {"SLURM_OVERLAP", "shares the job with other steps"},
    {"SLURM_OVERCOMMIT", "can change how many tasks a node gets"},
    {"SLURM_WHOLE", "can change how many tasks a node gets"},
    {"SLURM_SPREAD_JOB", "can change how many tasks a node gets"},
    {"SLURM_CPUS_PER_GPU", "can change how many tasks a node gets"},
    {"SLURM_NTASKS_PER_GPU", "can change how many tasks a node gets"},
    {"SLURM_NTASKS_PER_TRES", "can change how many tasks a node gets"},
    {"SLURM_USE_MIN_NODES", "chooses the nodes"},
    {"SLURM_CONSTRAINT", "chooses the nodes"},
    {"SLURM_PROLOG", "may start steps of its own, which would fail in an order of hosts"},
    {"SLURM_EPILOG", "may start steps of its own, which would fail in an order of hosts"},
    {"SLURM_SRUN_MULTI", "gives each rank a program, and so perhaps a place"},
}};

std::optional<int> positive(std::string_view text) {
    const auto number = parse_integer(text);
    if (!number || *number < 1 || *number > INT_MAX) return std::nullopt;
    return static_cast<int>(*number);
}

// "4" or "4-4"
std::optional<int> node_count(std::string_view text) {
    const std::size_t dash = text.find('-');
    if (dash == std::string_view::npos) return positive(text);
    const auto least = positive(text.substr(0, dash)), most = positive(text.substr(dash + 1));
    return least == most ? least : std::nullopt;
}

// "2(x4)" and "2": the number of a run that covers all nodes.
std::optional<int> uniform(std::string_view text, std::size_t nodes) {
    const std::size_t open = text.find("(x");
    if (open == std::string_view::npos) return nodes == 1 ? positive(text) : std::nullopt;
    if (text.back() != ')') return std::nullopt;
    const auto covered = positive(text.substr(open + 2, text.size() - open - 3));
    if (!covered || static_cast<std::size_t>(*covered) != nodes) return std::nullopt;
    return positive(text.substr(0, open));
}

bool is_daemon(std::string_view program) {
    program.remove_prefix(program.rfind('/') + 1);  // npos + 1 is 0
    return program == "orted" || program == "prted" || program == "pmi_proxy" || program.starts_with("hydra_");
}

class Decision {
public:
    Decision(const SrunLine& line, const Environment& environment, const SlurmFacts& slurm)
        : line_(line), environment_(environment), slurm_(slurm) {}

    StepLayout run() {
        const bool decided = step_of_job() || understood() || options() || variables() || nodes() || tasks() || mpi();
        if (!decided) return std::move(layout_);
        layout_.hosts.clear();
        layout_.tasks_per_node = 0;
        return std::move(layout_);
    }

private:
    // Each returns whether it has found a reason.
    bool keep(std::string why) {
        layout_.kept_because = std::move(why);
        return true;
    }
    bool no_ranks(std::string why) {
        layout_.ranks = false;
        return keep(std::move(why));
    }
    std::string variable(std::string_view name) const { return environment_.get_or(name, ""); }
    std::optional<std::string> last(Role role) const {
        std::optional<std::string> value;
        for (const SrunLine::Given& given : line_.options)
            if (given.option->role == role) value = given.value;
        return value;
    }

    bool step_of_job() {
        if (variable("SLURM_JOB_ID").empty()) return no_ranks("srun runs outside a job");
        const auto step = parse_integer(variable("SLURM_STEP_ID"));
        if (step && *step >= 0 && *step < numbered_steps_end) return no_ranks("srun runs inside a task");
        if (is_daemon(line_.program)) return no_ranks("mpirun's daemons are left alone");
        return false;
    }

    bool understood() {
        if (environment_.get("SLURM_HET_SIZE")) return keep("the job is heterogeneous");
        if (!line_.problem.empty()) return keep(line_.problem);
        if (line_.heterogeneous) return keep("the step is heterogeneous");
        if (line_.program.empty()) return no_ranks("there is no program");
        return false;
    }

    bool options() {
        for (const SrunLine::Given& given : line_.options) {
            const SrunOption& option = *given.option;
            if (option.role == Role::refused) return keep(given.text + ' ' + std::string(option.about));
            if (option.role == Role::as_in_job && given.value != environment_.get(option.about))
                return keep(given.text + " is not as the job has it");
            if (option.role == Role::job && given.value != environment_.get("SLURM_JOB_ID")) return no_ranks("--jobid names another job");
        }
        return false;
    }

    bool variables() {
        for (const auto& [name, why] : refused_variables)
            if (environment_.get(name)) return keep(std::string(name) + ' ' + std::string(why));
        return false;
    }

    bool nodes() {
        const std::string list = variable("SLURM_JOB_NODELIST");
        topology::HostList hosts = topology::expand_hosts(list);
        const std::size_t count = hosts.hosts.size();
        if (!hosts.errors.empty() || count == 0) return keep("the nodes of the job are not known");
        if (std::unordered_set<std::string_view>(hosts.hosts.begin(), hosts.hosts.end()).size() != count)
            return keep("a node stands twice in the job's list");
        for (const char* name : {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"})
            if (const auto given = environment_.get(name); given && node_count(*given) != static_cast<int>(count))
                return keep(std::string(name) + " says " + *given + ", the job has " + std::to_string(count) + " nodes");
        if (const auto given = environment_.get("SLURM_NODELIST"); given && *given != list) return keep("SLURM_NODELIST is not the job's");
        if (const auto given = last(Role::nodes); given && node_count(*given) != static_cast<int>(count))
            return keep("-N " + *given + " is not all nodes of the job");
        if (count < fewest_nodes) return keep("fewer than 3 nodes have one order only");
        layout_.hosts = std::move(hosts.hosts);
        return false;
    }

    // What srun makes of its options and variables: so many tasks, and where they outnumber the nodes, as many on each.
    bool tasks() {
        const int nodes = static_cast<int>(layout_.hosts.size());
        std::optional<int> total, per_node;
        for (const char* name : {"SLURM_NPROCS", "SLURM_NTASKS"}) {
            const auto given = environment_.get(name);
            if (!given) continue;
            const auto number = positive(*given);
            if (!number || (total && total != number)) return keep("SLURM_NTASKS and SLURM_NPROCS do not say how many tasks the job has");
            total = number;
        }
        const auto of_job = total;
        if (const auto given = environment_.get("SLURM_NTASKS_PER_NODE")) {
            per_node = positive(*given);
            if (!per_node) return keep("SLURM_NTASKS_PER_NODE is no number");
        }
        if (const auto given = last(Role::tasks)) {
            const auto number = positive(*given);
            if (!number || number.value() != of_job.value_or(nodes))
                return keep("-n " + *given + " is not the job's " + std::to_string(of_job.value_or(nodes)) + " tasks");
            total = number;
        }
        if (const auto given = last(Role::tasks_per_node)) {
            const auto number = positive(*given);
            if (!number || (per_node && per_node != number)) return keep("--ntasks-per-node=" + *given + " is not as the job has it");
            per_node = number;
        }
        if (cpus(total.has_value())) return true;
        // Later versions of srun divide by this variable as by -c; where it comes to one task a node, both ways agree.
        if (!total && environment_.get("SLURM_CPUS_PER_TASK") && uniform(variable("SLURM_TASKS_PER_NODE"), layout_.hosts.size()) != 1)
            return keep("-c without -n leaves the number of tasks to srun");
        if (!total) total = nodes;
        if (*total % nodes != 0) return keep(std::to_string(*total) + " tasks do not spread evenly over " + std::to_string(nodes) + " nodes");
        const int share = *total / nodes;
        if (per_node && *per_node != share) return keep("the tasks for each node are not those of the job");
        if (share > 1 && uniform(variable("SLURM_TASKS_PER_NODE"), layout_.hosts.size()) != share)
            return keep("nodes get different numbers of tasks (" + variable("SLURM_TASKS_PER_NODE") + ')');
        layout_.tasks_per_node = share;
        return false;
    }

    // As the job has it, or it changes how many tasks fit on a node; and where nobody says how many tasks, srun divides by it.
    bool cpus(bool tasks_known) {
        std::optional<std::string> given = environment_.get("SRUN_CPUS_PER_TASK");
        if (const auto on_line = last(Role::cpus_per_task)) given = on_line;
        if (!given) return false;
        const auto number = positive(*given);
        if (!number || *number != positive(environment_.get_or("SLURM_CPUS_PER_TASK", "1")))
            return keep("-c " + *given + " is not as the job has it");
        if (!tasks_known) return keep("-c without -n leaves the number of tasks to srun");
        return false;
    }

    bool mpi() {
        std::optional<std::string> type = environment_.get("SLURM_MPI_TYPE");
        if (const auto on_line = last(Role::mpi)) type = on_line;
        if (!type) type = slurm_.mpi_default;
        if (!type) return keep("the kind of PMI is not known (no --mpi, and no slurm.conf to read MpiDefault from)");
        if (*type == "none" || *type == "openmpi" || type->starts_with("pmix")) return false;
        if (*type != "pmi2") return keep("--mpi=" + *type + " is not known to follow an order");
        if (slurm_.version >= pmi2_follows) return false;
        return keep("pmi2 before Slurm 24.05 takes each rank of an ordered step for alone on its node");
    }

    const SrunLine& line_;
    const Environment& environment_;
    const SlurmFacts& slurm_;
    StepLayout layout_;
};

}  // namespace

StepLayout step_layout(const SrunLine& line, const Environment& environment, const SlurmFacts& slurm) {
    return Decision(line, environment, slurm).run();
}

}  // namespace paced::helper
