// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: eight threads, each with a communicator of its own, in collectives at the same time. Thread t
// makes 300 + 20 t calls, more than a block of records.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { threads = 8 };
static MPI_Comm comms[threads];
static long sums[threads];

static void* work(void* argument) {
    const long t = (long)argument;
    for (int i = 0; i < 300 + 20 * t; ++i) {
        int value = (int)(i + t), total = 0;
        MPI_Allreduce(&value, &total, 1, MPI_INT, MPI_SUM, comms[t]);
        sums[t] += total;
    }
    return NULL;
}

int main(int argc, char** argv) {
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided < MPI_THREAD_MULTIPLE) {
        if (rank == 0) printf("no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 0;
    }
    pthread_t started[threads];
    for (int t = 0; t < threads; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    for (long t = 0; t < threads; ++t) pthread_create(&started[t], NULL, work, (void*)t);
    long total = 0;
    for (int t = 0; t < threads; ++t) {
        pthread_join(started[t], NULL);
        total += sums[t];
    }
    printf("rank %d total %ld\n", rank, total);
    MPI_Finalize();
    return 0;
}
