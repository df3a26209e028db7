// SPDX-License-Identifier: BSD-3-Clause
// bsp: an MPI program that behaves like data-parallel training, and says at its end what an iteration cost it, so
// that the figures of an observer can be checked against its own.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <mpi.h>
#include <sys/resource.h>

#include "options.h"
#include "times.h"
#include "workload.h"
#include "world.h"

namespace {

// The times of the workload's independent groups, at rank 0: rank g has timed for group g.
std::vector<bsp::Times> gather(const std::vector<double>& own_ms, int groups) {
    const bsp::Times own = bsp::times_of(own_ms);
    if (groups == 1) return {own};
    std::vector<bsp::Times> all(static_cast<std::size_t>(bsp::world_size()));
    MPI_Gather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, 0, MPI_COMM_WORLD);
    all.resize(static_cast<std::size_t>(groups));
    return all;
}

// User and system time of this process.
double cpu_seconds() {
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int rank = bsp::world_rank(), size = bsp::world_size();
    const bsp::Parsed parsed = bsp::parse(argc, argv, size);
    if (!parsed.options) {
        if (rank == 0) std::fputs(parsed.message.c_str(), parsed.exit_code == 0 ? stdout : stderr);
        MPI_Finalize();
        return parsed.exit_code;
    }
    const bsp::Options& options = *parsed.options;
    std::uint64_t checksum = 0;
    std::vector<bsp::Times> groups;
    double cpu_s = 0;
    {
        const auto workload = bsp::make_workload(options);
        std::vector<double> times_ms;
        for (int i = 0; i < options.warmup; ++i) workload->iterate(i);
        const double cpu_before_s = cpu_seconds();
        for (int i = 0; i < options.iterations; ++i) {
            const double start = MPI_Wtime();
            workload->iterate(options.warmup + i);
            times_ms.push_back((MPI_Wtime() - start) * 1000);
        }
        const double own_cpu_s = cpu_seconds() - cpu_before_s;
        if (options.cpu_time) MPI_Reduce(&own_cpu_s, &cpu_s, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (!options.quiet_times) groups = gather(times_ms, workload->independent_groups());
        // Ranks of one group have received the same: without their number they would cancel each other out.
        const std::uint64_t own = workload->checksum() * (2 * static_cast<std::uint64_t>(rank) + 1);
        MPI_Reduce(&own, &checksum, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        if (!options.quiet_times) bsp::print(bsp::over_groups(groups));
        if (groups.size() > 1) std::printf("groups=%zu (the figures above are means over them, max the longest of all)\n", groups.size());
        if (options.cpu_time) std::printf("cpu=%.3f s\n", cpu_s);
        std::printf("ranks=%d iterations=%d checksum=%016llx\n", size, options.iterations, static_cast<unsigned long long>(checksum));
    }
    MPI_Finalize();
    return 0;
}
