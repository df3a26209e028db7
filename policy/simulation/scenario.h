// SPDX-License-Identifier: BSD-3-Clause
// What is simulated, as plain data: a fabric, the nodes on it, a job, what disturbs it, and how often to look. Read from TOML elsewhere;
// nothing here knows a file. Units: seconds, bytes, bytes a second. The defaults are a small healthy cluster; those that were
// measured or published name their source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/config/settings.h"
#include "policy/topology/fabric_topology.h"
#include "policy/topology/node_topology.h"
#include "policy/topology/relation.h"

namespace paced::simulation {

// ---- the fabric ----

// One level of switches, the leaves first. The uplinks of a switch are parallel links to the level above; a flow is put on one of
// them by a hash of its two ends (static ECMP), so that two flows may share one link while another stays idle.
struct Level {
    std::string name;                  // "leaf", "spine", "core"
    // leaf: nodes; above: switches of the level below; at least 1. The top one stands for all that connects the level below it, so
    // it must take all of that.
    std::uint32_t below = 32;
    std::uint32_t uplinks = 1;         // of each switch; at least 1, of no meaning at the top
    double uplink_bytes_s = 0;         // of each uplink, each way; 0: from `oversubscription`
    double oversubscription = 1;       // what may come from below over what all uplinks carry; used where uplink_bytes_s is 0; > 0
    double buffer_bytes = 12e6;        // that one port of such a switch may queue; >= 0
    double latency_s = 1e-6;           // to cross such a switch; >= 0
};

enum class Transport { tcp, lossless };

// What happens where the flows that meet at a port together have more under way than bandwidth-delay product and buffer hold:
// x = under way / (rate * round_trip_s + buffer), overload if x > 1.
//   tcp       with H = loss_scale * (x - 1)^loss_power at a port, a transfer that begins there makes one of those that meet stand still for
//             rto_s, from some time of its own on, with p = 1 - exp(-(what it adds to H)). The two constants are fitted on incast over
//             real TCP, 64 KB each into 200 Mbit/s and 64 KB of buffer, RTO_min = 200 ms: rounds of 8, 16, 24 senders took 27.6, 118 to
//             134 and 231 ms, where the wire takes 21, 42 and 63; that is H = .036, .6 and more than 2.
//   lossless  while it lasts, the port pauses its senders: the other ports of that switch lose pause_spread * (1 - 1/x) of their rate.
struct Overload {
    bool on = true;                    // off: pure max-min sharing
    double window_bytes = 14600;       // that one flow has under way when it begins (tcp: 10 segments); > 0
    double round_trip_s = 0.0002;      // without queues; >= 0
    double rto_s = 0.2;                // >= 0
    double loss_scale = 0.095, loss_power = 2.35;
    double pause_spread = 0.3;         // 0 to 1
    // What begins at other times does not meet: flows count as far as their ranks enter within this part of the transfer's own time, the
    // fullest such time taken. Fitted on the same incast with skewed senders. > 0
    double burst_share = 0.25;
};

struct Fabric {
    std::uint32_t nodes = 64;          // of the whole cluster, at least 1
    std::vector<Level> levels;         // the leaves first; empty: one switch that carries everything
    std::uint32_t rails = 1;           // NICs of equal number hang on leaves of their own: each leaf level stands for so many; at least 1
    Transport transport = Transport::tcp;
    Overload overload;
    // Read from a site's own files; then `nodes` and every `below` are what it says, and levels[i] describes its switches of level i
    // (the last one all above).
    std::optional<topology::FabricTopology> read;
};

// ---- the nodes ----

struct Node {
    std::uint32_t gpus = 8;            // 0: ranks are on CPUs alone
    std::uint32_t ranks = 8;           // of the job on each node; at least 1, and at most gpus where there are any
    std::uint32_t nics = 8;            // at least 1; rank r uses NIC r * nics / ranks, NIC k is on rail k * rails / nics
    double nic_bytes_s = 50e9;         // > 0
    double nic_latency_s = 5e-6;       // of a message, software included; >= 0
    double internal_bytes_s = 300e9;   // between the GPUs of a node (NVLink), of each rank each way; > 0
    double internal_latency_s = 2e-6;  // >= 0
    // The way from each rank's GPU to its NIC, as submitted and as placement binds it; empty: PIX for all. Shorter than `ranks`: repeated.
    std::vector<topology::Relation> unbound, bound;
    std::optional<topology::NodeTopology> topology;  // instead of the two lists: rank r takes NIC r as submitted, and bound what placement says
    // Part of a NIC's rate that is left over PIX, PXB, PHB, NODE, PKG, SYS; each 0 to 1, above 0. GPUDirect over a host bridge or a
    // socket link is that much slower.
    double rate_share[6] = {1, 0.95, 0.7, 0.6, 0.5, 0.4};
};

// ---- the job ----

enum class Operation { allreduce, reduce_scatter, allgather, alltoall, neighbour };  // neighbour: each sends to the next one (pipeline)
enum class Algorithm { ring, tree, hierarchical, direct };
// hierarchical: within the node, then between nodes by a ring of each local index, then within the node. direct: all-to-all, each
// to all others. tree: all-reduce alone, NCCL's double binary tree over nodes. An all-to-all is always direct, neighbour
// knows no algorithm.

// One kind of communication of every iteration, over the groups of one axis of the grid.
struct Traffic {
    std::string axis;                  // of Work::grid; empty: all ranks
    Operation operation = Operation::allreduce;
    Algorithm algorithm = Algorithm::ring;
    double bytes = 100e6;              // of each rank and iteration, all buckets together, before volume_factor; > 0
    std::uint32_t buckets = 1;         // equal parts, one call each; at least 1
    // Part of the iteration's compute over which the buckets come out while it goes on; 0: all of them after it, and the rank waits.
    double overlap = 0;
    // Where a blocking call stands: after this part of the iteration's compute. Several buckets without overlap are spread evenly from
    // `from` to `to`.
    double from = 1, to = 1;
    std::uint32_t outstanding = 0;     // all-to-all: messages that a rank has under way at once; 0: all; 1: pair by pair
    std::uint32_t channels = 1;        // flows (channels, queue pairs) that an edge between two nodes is split into; at least 1
};

enum class Scaling { weak, strong };
enum class Synchronisation { bulk, stale, asynchronous };
enum class Assignment { fixed, dynamic };

struct Axis {
    std::string name;
    std::uint32_t size = 0;            // 0: whatever is left of the ranks; at most one such axis
};

struct Work {
    std::vector<Axis> grid;            // fastest first, as in --paced-fabric-order; empty: one group of all ranks
    std::vector<Traffic> traffic;      // in the order in which a rank calls them
    Scaling scaling = Scaling::weak;
    std::uint32_t reference_nodes = 0; // strong: the size that `compute.mean_s` is for; 0: the smallest size simulated
    double samples = 1;                // weak: of each rank and iteration; strong: of the job; only throughput's unit; > 0
    double volume_factor = 1;          // of all bytes: compression, bf16; > 0
    std::uint32_t accumulation = 1;    // compute steps for one synchronisation; at least 1
    Synchronisation synchronisation = Synchronisation::bulk;
    std::uint32_t staleness = 1;       // stale: iterations that a rank may be ahead of the slowest; at least 1
    Assignment assignment = Assignment::fixed;
    // dynamic: work is dealt out in pieces by need, so that slow ranks get fewer; costs are of each rank and iteration.
    std::uint32_t pieces = 32;         // of one rank's work; at least 1
    double assignment_cost_s = 0;      // >= 0
};

// ---- what ranks take, and what disturbs them ----

// Compute times of a real job, replayed: row i of iteration i, again from the start after the last.
struct Replay {
    std::string origin;
    std::uint32_t ranks = 0;
    std::vector<float> compute_s;      // iterations * ranks values, > 0; simulated rank r takes column r % ranks
};

struct Compute {
    double mean_s = 0.2;               // of one step (micro-batch) of a healthy rank; > 0
    // Lognormal, of one rank and step; healthy GPUs: .015 to .03 (ByteDance's released traces).
    double sigma = 0.02;
    double segment_sigma = 0;          // lognormal, beside it: of what a rank computes between two calls
    double persistent = 0;             // lognormal, once for each rank; GPU to GPU 8 % and more have been seen (Sinha, SC'22)
    double node_share = 0;             // part of the variance that the ranks of a node have in common; 0 to 1
    // Rare events of one rank (a page fault, a daemon, garbage collection): probability in an iteration, exponential length.
    double event_probability = 0, event_mean_s = 0;
    // A node that becomes slow for a while: rate for each node, exponential length, by how much slower while it lasts.
    double slow_per_node_hour = 0, slow_mean_s = 600, slow_factor = 1.3;
    // Overlap theft. A rank that waits in a collective takes this part of the time that its own compute gets on the device meanwhile ...
    double theft = 0;                  // 0 to 1
    // ... and where more ranks than cores run, this part of its waiting time from the last rank of its node that still computes.
    double spin_theft = 0;             // 0 to 1
    std::optional<Replay> replay;      // instead of all of the above but theft
};

// Something in the fabric that stops one collective for a while (a link that flaps, a storm of pauses): for each node of the
// communicator that is not under the leaf of its first, a probability at each call; exponential length.
struct FabricEvents {
    double probability = 0, mean_s = 0;
};

// Somebody else's job: bursts over the uplinks of one level, with a period of its own.
struct Background {
    std::string level;                 // whose uplinks; empty: the lowest level's
    double share = 0.5;                // of those uplinks, that carry it, chosen by the seed; 0 to 1
    double period_s = 0.1;             // > 0
    double duty = 0.3;                 // part of the period in which it sends; 0 to 1
    double rate_share = 0.5;           // of an uplink's rate that it sends at; 0 to 1
    double jitter = 0;                 // lognormal sigma of each period
};

// ---- pacing ----

struct Control {
    double latency_s = 0.0005;         // one way, from a node to the leader or back, at best; >= 0
    double jitter_s = 0.0005;          // exponential, on top; >= 0
    double loss = 0;                   // of a message; 0 to 1, below 1
    double interval_s = 0.1;           // between two looks of the leader; > 0
};

struct Pacing {
    std::string tuning;                // as tuning.h's grammar says; empty: built in
    double window_s = -1;              // longest delay of one call; negative: auto
    Control control;
    // The paper's recipe, for comparison: a rank that was earlier than `threshold` at its last call is delayed by `delay` at the next
    // one; parts of the mean iteration.
    double recipe_threshold = 0.02, recipe_delay = 0.01;
};

// How the job's nodes lie on the fabric as the scheduler hands them out, before any order of ours.
enum class Placement {
    block,        // leaf after leaf
    interleaved,  // one of each leaf in turn, over as many leaves as the job would fill, at least two
    random,       // drawn from the whole cluster and left in the order drawn
    sorted,       // drawn from the whole cluster, then by number: what Slurm does on a busy cluster
};

struct Scenario {
    std::string name, description;
    Fabric fabric;
    Node node;
    Work work;
    Compute compute;
    FabricEvents fabric_events;
    std::vector<Background> background;
    Pacing pacing;
    Placement placement = Placement::block;
    config::Order order;               // that the ordered arms ask for; Pattern::none: what fits the heaviest traffic
    std::vector<std::uint32_t> node_counts{4, 8, 16, 32, 64};
    std::uint32_t seeds = 5;           // runs of each case; at least 1
    std::uint64_t first_seed = 1;
    std::uint32_t iterations = 1000;   // of each run, measured; at least 10
    std::uint32_t warmup = 20;         // before them
};

// Something that cannot be simulated. field: where it stands, as a TOML path: "fabric.level[1].below", "work.traffic[0].axis".
// also: what else the check has read; whoever has already refused one of those need not show this one. message: no full stop.
struct Problem {
    std::string field, message;
    std::vector<std::string> also = {};
};

// Every mistake of the scenario, also those that only two values together make: numbers out of range or not finite, an axis that is not
// in the grid, more ranks than GPUs, more nodes than the fabric has. Empty: simulate() accepts it. Quick, whatever the values are.
std::vector<Problem> problems_of(const Scenario& scenario);

}  // namespace paced::simulation
