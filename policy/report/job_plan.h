// SPDX-License-Identifier: BSD-3-Clause
// JobPlan: what the launch decided, as plain data. The launch (the SPANK helper's `step`, or `paced run`) writes it
// on every node as plan.json into the step's run folder; `finish` reads the plans of all nodes back, and the report
// shows them. It also carries what finish needs and cannot ask for again: where the JSON report shall go.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/result.h"

namespace paced::report {

struct JobInfo {
    std::string id, step;
    std::string stamp;               // step_environment.h: whose step this is
    std::string user, name;          // may be empty
    std::vector<std::string> hosts;  // in rank order
    int tasks = 0;

    friend bool operator==(const JobInfo&, const JobInfo&) = default;
};

// A value as people write it, and where it came from: "observe", "flag --paced-fabric".
struct Setting {
    std::string value, source;

    friend bool operator==(const Setting&, const Setting&) = default;
};

struct PolicyValues {
    Setting mode, order, bind, window, report;
    bool bind_applies = false;       // this policy has them done, not only shown; whether they were, the plan says
    bool order_applies = false;
    std::string mode_run;            // what is done in the end
    // Under pace alone:
    Setting pacing;                  // what of [pacing] differs from what is built in, "least_pairs=6"; source: the policy file
    std::string longest_delay;       // of one collective: "100ms"; "0": none is made
    double exploration_percent = 0;  // what experiments may cost
    std::string named_policy;        // the [policy.NAME] asked for; may be empty
    std::vector<std::string> notes;  // "window 5ms cut to the site's window_max 2ms"

    friend bool operator==(const PolicyValues&, const PolicyValues&) = default;
};

struct Leaf {
    std::string name;
    std::vector<std::string> hosts;  // of this step, in rank order

    friend bool operator==(const Leaf&, const Leaf&) = default;
};

// Where the step's nodes hang in the fabric.
struct FabricView {
    std::string source;                // "/etc/slurm/topology.conf"; empty: nothing is known
    std::string problem;               // why not, one line
    std::vector<Leaf> leaves;          // those with nodes of this step
    std::vector<std::string> unknown;  // hosts that the source does not name
    int crossings = 0;                 // how often the closed ring over hosts steps from one leaf to another
    int crossings_least = 0;           // the best that any order of these hosts can do

    friend bool operator==(const FabricView&, const FabricView&) = default;
};

// What an order costs on one level of the fabric; placement/rank_order.h says in which unit.
struct OrderCost {
    std::string level;  // "leaf", "spine", ...
    long long chosen = 0, submitted = 0, lower_bound = 0;

    friend bool operator==(const OrderCost&, const OrderCost&) = default;
};

// The order of hosts that was worked out for this step, and what became of it.
struct OrderView {
    std::string pattern;             // "ring", "tp=8,pp=4,dp=16", "none"; empty: nothing is known of a wish
    std::string source;              // of the wish: "flag --paced-fabric-order"
    std::vector<std::string> hosts;  // chosen; the submitted order where nothing improves. Empty: none was worked out
    std::vector<OrderCost> levels;   // the top level first, the last is that of the leaves. Empty: not known
    std::size_t leaves = 0;
    bool improves = false;           // strictly cheaper than the submitted order
    bool applied = false;            // the launch gave the ranks to the hosts in this order
    std::string kept_because;        // why the submitted order is kept, without full stop; empty: applied, or nothing was asked for
    std::vector<std::string> reasons;

    friend bool operator==(const OrderView&, const OrderView&) = default;
};

struct Device {
    std::string pci, name;
    std::string label{};                    // what the input calls it, where that is another name: "NIC2" of nvidia-smi
    std::vector<std::string> more_names{};  // further devices at the same address: mlx5_1 beside mlx5_0

    friend bool operator==(const Device&, const Device&) = default;
};

// One row of the GPU-NIC-core table, as in `paced plan --json`.
struct Binding {
    int task = -1;  // local; -1: no task uses this GPU
    int gpu = -1;   // index
    Device device;  // the GPU
    int parts = 1;  // logical devices that its driver makes of it
    std::vector<Device> nics, candidates;
    bool nic_down = false;  // the link of every candidate is down: no variable names one
    std::string relation;  // PIX PXB PHB NODE PKG SYS; empty: no NIC
    std::string cpus;      // "0-15,32-47"
    std::optional<int> numa;
    std::vector<std::string> reasons;

    friend bool operator==(const Binding&, const Binding&) = default;
};

struct NodePlan {
    std::string node;
    int index = 0;
    int local_tasks = 0;
    std::vector<Binding> bindings;   // none: no GPUs, or remark says why nothing is known
    std::string remark;              // "no GPUs", "topology unknown: the probe did not answer"
    std::vector<std::string> notes;  // of this node alone
    std::vector<std::string> applied;  // what of the binding was handed to tasks: names of variables, and "cores"; none: nothing
    bool applied_to_own_gpu = false;   // and only to a task that Slurm gave a GPU of its own; which ones do is known in the task alone

    friend bool operator==(const NodePlan&, const NodePlan&) = default;
};

struct JobPlan {
    JobInfo job;
    PolicyValues policy;
    FabricView fabric;
    OrderView order;
    NodePlan node;
    std::vector<std::string> kept;   // the user's own settings that were left alone, one line each
    std::vector<std::string> notes;  // of the whole step
    std::string report_path;         // absolute; empty: no JSON asked for

    friend bool operator==(const JobPlan&, const JobPlan&) = default;
};

// One object in one line: an element of `bindings` in `paced plan --json`.
std::string to_json(const Binding& binding);
std::string to_json(const JobPlan& plan);
Result<JobPlan> parse_job_plan(std::string_view json);

}  // namespace paced::report
