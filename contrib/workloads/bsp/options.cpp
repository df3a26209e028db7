// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <map>
#include <sstream>

#include <CLI/CLI.hpp>

namespace bsp {
namespace {

// "a=1,b=2.5" with exactly the keys given; the message of what is wrong, or none.
std::string parse_pairs(const std::string& text, const std::map<std::string, double*>& keys) {
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        const auto equals = part.find('=');
        const auto key = keys.find(part.substr(0, equals));
        if (equals == std::string::npos || key == keys.end()) return "'" + part + "' is not understood";
        std::size_t used = 0;
        try {
            *key->second = std::stod(part.substr(equals + 1), &used);
        } catch (const std::exception&) {
            used = 0;
        }
        if (used == 0 || used != part.size() - equals - 1) return "'" + part + "' has no number";
    }
    return {};
}

std::string read_straggler(const std::string& text, int world_size, std::vector<Straggler>& stragglers) {
    double rank = -1, delay = -1;
    std::string problem = parse_pairs(text, {{"rank", &rank}, {"ms", &delay}});
    if (problem.empty() && (rank < 0 || rank >= world_size || rank != static_cast<int>(rank)))
        problem = "the rank must be one of 0 to " + std::to_string(world_size - 1);
    if (problem.empty() && delay < 0) problem = "the delay is missing or negative";
    if (problem.empty()) stragglers.push_back({static_cast<int>(rank), delay});
    return problem.empty() ? problem : "--straggler " + text + ": " + problem + " (as in --straggler rank=5,ms=20)";
}

std::string read_groups(const std::string& text, int world_size, Options& options) {
    double tensor = 1, data = 0;
    std::string problem = parse_pairs(text, {{"tp", &tensor}, {"dp", &data}});
    const int tp = static_cast<int>(tensor);
    const int dp = data == 0 && tp > 0 ? world_size / tp : static_cast<int>(data);
    if (problem.empty() && (tp < 1 || dp < 1 || tp != tensor || (data != 0 && dp != data) || tp * dp != world_size))
        problem = "tp x dp must be the number of ranks, " + std::to_string(world_size);
    options.tensor_parallel = tp;
    options.data_parallel = dp;
    return problem.empty() ? problem : "--groups " + text + ": " + problem + " (as in --groups tp=2,dp=4)";
}

// In mode groups: how many.
std::string read_count(const std::string& text, int world_size, Options& options) {
    const bool number = !text.empty() && text.size() < 9 && text.find_first_not_of("0123456789") == std::string::npos;
    options.groups = number ? std::stoi(text) : 0;
    if (options.groups > 0 && world_size % options.groups == 0) return {};
    return "--mode groups needs --groups G, where G divides the number of ranks, " + std::to_string(world_size) + " (as in --mode groups --groups 4)";
}

}  // namespace

Parsed parse(int argc, char** argv, int world_size) {
    Options options;
    std::string groups, mode = "allreduce";
    std::vector<std::string> stragglers;
    CLI::App app{"Data-parallel training without the learning: compute, bucketed all-reduce, repeat."};
    app.add_option("--iterations", options.iterations, "iterations that are timed")->check(CLI::Range(1, 100'000'000));
    app.add_option("--warmup", options.warmup, "iterations before them")->check(CLI::Range(0, 100'000'000));
    app.add_option("--compute", options.compute_ms, "milliseconds of compute in an iteration, a third of it forward")->check(CLI::NonNegativeNumber);
    app.add_option("--jitter", options.jitter, "sigma of the log-normal factor on each rank's compute")->check(CLI::NonNegativeNumber);
    app.add_option("--straggler", stragglers, "rank=R,ms=M: this rank computes M milliseconds longer; may be repeated");
    app.add_option("--buckets", options.buckets, "gradient buckets, each reduced as soon as its share of backward is done")->check(CLI::Range(1, 100'000));
    app.add_option("--bytes", options.bytes, "bytes of a bucket; triad: of what goes to each neighbour")->check(CLI::Range(4L, 1L << 31));
    app.add_option("--groups", groups,
                   "tp=T,dp=D: ranks that follow one another form a tensor-parallel group, every T-th a data-parallel one; in mode groups G: that many groups "
                   "of equal size, member j of group g is rank g + j*G");
    app.add_option("--mode", mode,
                   "allreduce, alltoall, ring (by point-to-point calls): how a bucket is exchanged in its data-parallel group; groups: independent groups, no call over "
                   "all ranks, figures are means over groups; triad: memory-bound sweeps, edges to both neighbours, a rare all-reduce")
        ->check(CLI::IsMember({"allreduce", "alltoall", "ring", "groups", "triad"}));
    app.add_flag("--synchronous", options.synchronous, "mode groups: 8 bytes over all ranks end each iteration, as in one program whose groups wait for one another");
    app.add_option("--array-mib", options.array_mib, "triad: MiB of each of its three arrays")->check(CLI::Range(0.001, 4096.0));
    app.add_option("--sweeps", options.sweeps, "triad: sweeps over them in an iteration")->check(CLI::Range(1, 100'000));
    app.add_option("--reduce-every", options.reduce_every, "triad: iterations from one all-reduce to the next")->check(CLI::Range(1, 100'000'000));
    app.add_option("--seed", options.seed, "of the jitter");
    app.add_flag("--spin", options.spin, "compute keeps its core busy; by default it sleeps, so that many ranks fit on few cores");
    app.add_flag("--work", options.work, "compute is milliseconds of CPU time: what others take from the core makes it longer, as it does real work");
    app.add_flag("--cpu-time", options.cpu_time, "print the CPU time that all ranks together took in the timed iterations");
    app.add_flag("--quiet-times", options.quiet_times, "print only what is the same in every run");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::ostringstream out, err;
        const bool help = app.exit(error, out, err) == 0;
        return {std::nullopt, help ? out.str() : "bsp: " + err.str(), help ? 0 : 2};
    }
    options.mode = std::map<std::string, Mode>{
        {"allreduce", Mode::allreduce}, {"alltoall", Mode::alltoall}, {"ring", Mode::ring}, {"groups", Mode::groups}, {"triad", Mode::triad}}.at(mode);
    options.data_parallel = world_size;
    std::string problem;
    if (options.mode == Mode::groups)
        problem = read_count(groups, world_size, options);
    else if (!groups.empty())
        problem = read_groups(groups, world_size, options);
    for (const std::string& straggler : stragglers)
        if (problem.empty()) problem = read_straggler(straggler, world_size, options.stragglers);
    if (!problem.empty()) return {std::nullopt, "bsp: " + problem + "\n", 2};
    return {options, {}, 0};
}

}  // namespace bsp
