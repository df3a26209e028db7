// SPDX-License-Identifier: BSD-3-Clause
// allreduce_pairs PAIRS CALLS CELL ARM: 8-byte all-reduces in pairs within one job, one half through MPI_Allreduce (which an
// interposer sees), one through PMPI_Allreduce (which is what the other becomes without one). The halves are cut into
// pieces that take turns, and a half's time is the lower quartile of its pieces: one in which the kernel took a rank's
// core away is a hundred times as long and says nothing of either.
// Prints one JSON object: times of a call through MPI_Allreduce, and its change against PMPI_Allreduce with a 95 % interval.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { pieces = 20 };

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double block_ms(int seen, int calls) {
    double value = 1, total = 0;
    PMPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < calls; ++i) {
        if (seen) MPI_Allreduce(&value, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        else PMPI_Allreduce(&value, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) * 1000 / calls;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int pairs = argc > 1 ? atoi(argv[1]) : 200, calls = argc > 2 ? atoi(argv[2]) : 2000;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double* seen = malloc(sizeof(double) * (size_t)pairs);
    double* change = malloc(sizeof(double) * (size_t)pairs);
    block_ms(1, calls);
    block_ms(0, calls);
    srand(1);  // the same order on both ranks
    for (int i = 0; i < pairs; ++i) {
        double times[2][pieces];
        for (int piece = 0; piece < pieces; ++piece) {
            const int first = rand() & 1;
            times[first][piece] = block_ms(first, calls / pieces);
            times[!first][piece] = block_ms(!first, calls / pieces);
        }
        for (int half = 0; half < 2; ++half) qsort(times[half], pieces, sizeof(double), by_value);
        seen[i] = times[1][pieces / 4];
        change[i] = log(times[1][pieces / 4] / times[0][pieces / 4]);
    }
    if (rank == 0) {
        double sum = 0, squares = 0;
        for (int i = 0; i < pairs; ++i) sum += seen[i];
        const double mean = sum / pairs;
        for (int i = 0; i < pairs; ++i) squares += (seen[i] - mean) * (seen[i] - mean);
        qsort(seen, (size_t)pairs, sizeof *seen, by_value);
        qsort(change, (size_t)pairs, sizeof *change, by_value);
        // The median and its order-statistic interval: a block that another process disturbed weighs no more than any other.
        const int half_width = (int)ceil(0.98 * sqrt(pairs)), low = pairs / 2 - half_width, high = pairs / 2 + half_width;
        printf("{\"cell\": \"%s\", \"arm\": \"%s\", \"pairs\": %d, \"mean_ms\": %.6f, \"cv\": %.3f, \"p50_ms\": %.6f, \"p99_ms\": %.6f, "
               "\"change_percent\": %.2f, \"change_ci95\": [%.2f, %.2f]}\n",
               argc > 3 ? argv[3] : "", argc > 4 ? argv[4] : "", pairs, mean, sqrt(squares / (pairs > 1 ? pairs - 1 : 1)) / mean, seen[pairs / 2], seen[pairs * 99 / 100],
               100 * expm1(change[pairs / 2]), 100 * expm1(change[low > 0 ? low : 0]), 100 * expm1(change[high < pairs ? high : pairs - 1]));
    }
    MPI_Finalize();
    return 0;
}
