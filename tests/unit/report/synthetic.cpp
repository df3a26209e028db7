// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/report/synthetic.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace paced::report::testing {

namespace {

// std::normal_distribution differs between libraries; this does not.
class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    double uniform() { return (static_cast<double>(engine_() >> 11) + .5) / 9007199254740992.0; }
    double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * 3.14159265358979323846 * uniform()); }

private:
    std::mt19937_64 engine_;
};

constexpr double start_ns = 5e12;  // the leader has been up for an hour and a half

class Player {
public:
    explicit Player(const Program& program) : program_(program), random_(program.seed) {
        const int ranks = program.nodes * program.ranks_per_node;
        now_.assign(static_cast<std::size_t>(ranks), start_ns);
        traces_.resize(now_.size());
        for (std::size_t r = 0; r < traces_.size(); ++r) {
            RankTrace& trace = traces_[r];
            trace.rank = static_cast<int>(r);
            trace.world_size = ranks;
            trace.library = "Open MPI 4.1.4";
            trace.started_ns = local(r, now_[r]);
            CommunicatorTrace communicator;
            communicator.id = 0x1000 + static_cast<std::uint64_t>(group_of(r));
            communicator.size = static_cast<std::uint32_t>(ranks / program.groups);
            communicator.rank = static_cast<std::uint32_t>(r) % communicator.size;
            trace.communicators.push_back(communicator);
        }
    }

    Played run() {
        Played played;
        for (int i = 0; i < program_.warmup_barriers; ++i) {
            compute(1 + i, 0);
            collective(Operation::barrier, 0, false);
        }
        for (int i = 0; i < program_.iterations; ++i) {
            const double begin = now_[0];
            compute(program_.compute_ms + (i == 0 ? program_.first_ms : 0), program_.straggler_ms);
            if (i == program_.killed_after) {
                for (std::size_t r = 0; r < now_.size(); ++r) record(r, Operation::allreduce, program_.bytes, now_[r], 0);
                break;
            }
            for (int b = 0; b < program_.buckets; ++b) {
                const bool contended = b == 0 && program_.contended_every > 0 && i % program_.contended_every == program_.contended_every - 1;
                collective(Operation::allreduce, program_.bytes, contended);
            }
            if (program_.loss_bucket) collective(Operation::allreduce, 8, false);
            played.iteration_ms.push_back((now_[0] - begin) / 1e6);
        }
        if (program_.killed_after < 0) {
            for (int i = 0; i < program_.epilogue_reduces; ++i) collective(Operation::reduce, 8u << i, false);
            for (std::size_t r = 0; r < now_.size(); ++r) traces_[r].finished_ns = local(r, now_[r]);
        }
        for (int n = 0; n < program_.nodes; ++n) {
            NodeTrace node;
            node.node = "n" + std::to_string(n + 1);
            for (int i = 0; i < program_.ranks_per_node; ++i) {
                const int rank = n * program_.ranks_per_node + i;
                if (rank != program_.silent_rank) node.ranks.push_back(traces_[static_cast<std::size_t>(rank)]);
            }
            if (n > 0 && program_.clocks_sampled) sample_clock(n, node);
            played.trace.nodes.push_back(std::move(node));
        }
        return played;
    }

private:
    int group_of(std::size_t rank) const { return static_cast<int>(rank) * program_.groups / static_cast<int>(now_.size()); }
    int node_of(std::size_t rank) const { return static_cast<int>(rank) / program_.ranks_per_node; }

    std::uint64_t local_of_node(int node, double leader_ns) const {
        const double drift = 1 - node * program_.clock_drift_ppm * 1e-6;
        return static_cast<std::uint64_t>(std::llround(start_ns + (leader_ns - start_ns) * drift - node * program_.clock_offset_ms * 1e6));
    }
    std::uint64_t local(std::size_t rank, double leader_ns) const { return local_of_node(node_of(rank), leader_ns); }

    void sample_clock(int n, NodeTrace& node) {
        const double end = *std::max_element(now_.begin(), now_.end());
        for (double at = start_ns; at < end + 2e9; at += 2e9) {
            const std::uint64_t own = local_of_node(n, at);
            const double wrong = (2 * random_.uniform() - 1) * program_.clock_error_us * 1e3;
            node.clock.push_back({own, std::llround(at - static_cast<double>(own) + wrong), std::llround(program_.clock_error_us * 1e3)});
        }
    }

    void compute(double ms, double straggler_ms) {
        for (std::size_t r = 0; r < now_.size(); ++r) {
            now_[r] += std::max(0.0, ms * (1 + program_.jitter * random_.normal())) * 1e6;
            if (static_cast<int>(r) == program_.straggler) now_[r] += straggler_ms * 1e6;
        }
    }

    void collective(Operation operation, std::uint64_t bytes, bool contended) {
        for (int g = 0; g < program_.groups; ++g) {
            double last = 0;
            for (std::size_t r = 0; r < now_.size(); ++r)
                if (group_of(r) == g) last = std::max(last, now_[r]);
            const double let_in = program_.admitted_ms > 0 ? last + program_.admitted_ms * 1e6 : 0;
            const double done = std::max(last, let_in) + program_.service_ms * 1e6 * (operation == Operation::allreduce && bytes > 8 ? 1 : .1);
            const double unlucky = random_.uniform() * static_cast<double>(now_.size());
            for (std::size_t r = 0; r < now_.size(); ++r) {
                if (group_of(r) != g) continue;
                double left = done + random_.uniform() * program_.leave_us * 1e3;
                if (contended && static_cast<std::size_t>(unlucky) == r) left += program_.contended_ms * 1e6;
                record(r, operation, bytes, now_[r], left, std::max(0.0, let_in - now_[r]));
                now_[r] = left + 500;
            }
        }
    }

    void record(std::size_t r, Operation operation, std::uint64_t bytes, double arrival, double completion, double held = 0) {
        CommunicatorTrace& communicator = traces_[r].communicators.front();
        const std::uint64_t sequence = communicator.calls++;
        communicator.bytes += bytes;
        ++communicator.calls_by_operation[operation];
        ++traces_[r].recording_calls;
        if (sequence / 256 % program_.keep_every != 0) return;
        communicator.records.push_back(
            {sequence, local(r, arrival), completion > 0 ? local(r, completion) : 0, bytes, operation, static_cast<std::uint64_t>(held)});
    }

    Program program_;
    Random random_;
    std::vector<double> now_;  // of each rank, leader's clock
    std::vector<RankTrace> traces_;
};

}  // namespace

Played play(const Program& program) { return Player(program).run(); }

std::vector<JobPlan> plans_for(const Program& program) {
    std::vector<JobPlan> plans;
    for (int n = 0; n < program.nodes; ++n) {
        JobPlan plan;
        plan.job.id = "42";
        plan.job.step = "0";
        plan.job.stamp = "slurm:42.0";
        plan.job.user = "ada";
        plan.job.name = "train";
        plan.job.tasks = program.nodes * program.ranks_per_node;
        plan.fabric.source = "/etc/slurm/topology.conf";
        plan.fabric.leaves = {{"leaf1", {}}, {"leaf2", {}}};
        for (int host = 0; host < program.nodes; ++host) {
            const std::string name = "n" + std::to_string(host + 1);
            plan.job.hosts.push_back(name);
            plan.fabric.leaves[host < program.nodes / 2 ? 0 : 1].hosts.push_back(name);
        }
        plan.fabric.crossings = plan.fabric.crossings_least = 2;
        plan.policy.mode = {"observe", "flag --paced-fabric"};
        plan.policy.mode_run = "observe";
        plan.policy.order = {"none", "built-in"};
        plan.policy.bind = {"gpu-nic", "built-in"};
        plan.policy.window = {"auto", "/etc/paced-fabric/policy.toml:12"};
        plan.policy.report = {"summary", "built-in"};
        plan.order = {"none", "built-in", plan.job.hosts, {{"leaf", 2, 2, 2}}, 2, false, false, {}, {}};
        plan.node.node = plan.job.hosts[static_cast<std::size_t>(n)];
        plan.node.index = n;
        plan.node.local_tasks = program.ranks_per_node;
        for (int gpu = 0; gpu < 2; ++gpu) {
            Binding binding;
            binding.task = gpu < program.ranks_per_node ? gpu : -1;
            binding.gpu = gpu;
            binding.device = {gpu == 0 ? "0000:0f:00.0" : "0000:8f:00.0", "Fake GPU 80GB"};
            binding.nics = {{gpu == 0 ? "0000:10:00.0" : "0000:90:00.0", gpu == 0 ? "mlx5_0" : "mlx5_1"}};
            binding.candidates = binding.nics;
            binding.relation = "PIX";
            binding.cpus = gpu == 0 ? "0-15" : "16-31";
            binding.numa = gpu;
            binding.reasons = {"one switch above both"};
            plan.node.bindings.push_back(std::move(binding));
        }
        plans.push_back(std::move(plan));
    }
    return plans;
}

}  // namespace paced::report::testing
