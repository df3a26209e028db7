// SPDX-License-Identifier: BSD-3-Clause
// What bsp can be asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bsp {

enum class Mode { allreduce, alltoall, ring, groups, triad };

struct Straggler {
    int rank = 0;
    double delay_ms = 0;
};

struct Options {
    int iterations = 100;
    int warmup = 10;
    double compute_ms = 10;
    double jitter = 0;  // sigma of the log-normal factor on each rank's compute
    std::vector<Straggler> stragglers;
    int buckets = 4;
    long bytes = 65536;  // of a bucket; triad: of an edge
    int tensor_parallel = 1;
    int data_parallel = 0;  // 0: all that remains
    int groups = 1;         // mode groups
    bool synchronous = false;  // mode groups: the loss over all ranks ends an iteration
    double array_mib = 8;   // triad: of each of its three arrays
    int sweeps = 4;         // triad: over them in an iteration
    int reduce_every = 20;  // triad: iterations
    Mode mode = Mode::allreduce;
    bool spin = false;
    bool work = false;
    bool cpu_time = false;
    bool quiet_times = false;
    std::uint64_t seed = 1;
};

struct Parsed {
    std::optional<Options> options;  // none: print message and end with exit_code
    std::string message;
    int exit_code = 0;
};

// world_size decides which groups and stragglers are possible.
Parsed parse(int argc, char** argv, int world_size);

}  // namespace bsp
