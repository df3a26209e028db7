// SPDX-License-Identifier: BSD-3-Clause
// bsp: an MPI program that behaves like data-parallel training, and says at its end what an iteration cost it, so
// that the figures of an observer can be checked against its own.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include <mpi.h>

#include "options.h"
#include "training.h"

namespace {

// The smallest value that at least this share of all lies at or below.
double quantile(const std::vector<double>& sorted, double share) {
    const auto place = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::min(sorted.size() - 1, place > 0 ? place - 1 : 0)];
}

void print_times(std::vector<double> times_ms) {
    const double total = std::accumulate(times_ms.begin(), times_ms.end(), 0.0);
    const double mean = total / static_cast<double>(times_ms.size());
    double squares = 0;
    for (const double time : times_ms) squares += (time - mean) * (time - mean);
    const double deviation = times_ms.size() > 1 ? std::sqrt(squares / static_cast<double>(times_ms.size() - 1)) : 0;
    std::sort(times_ms.begin(), times_ms.end());
    std::printf("mean=%.3f ms cv=%.4f p50=%.3f p95=%.3f max=%.3f\n", mean, mean > 0 ? deviation / mean : 0, quantile(times_ms, .5), quantile(times_ms, .95), times_ms.back());
    std::printf("throughput=%.3f iterations/s\n", 1000 / mean);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const bsp::Parsed parsed = bsp::parse(argc, argv, size);
    if (!parsed.options) {
        if (rank == 0) std::fputs(parsed.message.c_str(), parsed.exit_code == 0 ? stdout : stderr);
        MPI_Finalize();
        return parsed.exit_code;
    }
    const bsp::Options& options = *parsed.options;
    std::uint64_t checksum = 0;
    std::vector<double> times_ms;
    {
        bsp::Training training(options);
        for (int i = 0; i < options.warmup; ++i) training.iterate(i);
        for (int i = 0; i < options.iterations; ++i) {
            const double start = MPI_Wtime();
            training.iterate(options.warmup + i);
            times_ms.push_back((MPI_Wtime() - start) * 1000);
        }
        // Ranks of one group have received the same: without their number they would cancel each other out.
        const std::uint64_t own = training.checksum() * (2 * static_cast<std::uint64_t>(rank) + 1);
        MPI_Reduce(&own, &checksum, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        if (!options.quiet_times) print_times(std::move(times_ms));
        std::printf("ranks=%d iterations=%d checksum=%016llx\n", size, options.iterations, static_cast<unsigned long long>(checksum));
    }
    MPI_Finalize();
    return 0;
}
