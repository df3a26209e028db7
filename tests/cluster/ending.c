// SPDX-License-Identifier: BSD-3-Clause
// A job that goes on until one of its ranks is told how to end it:
//   SIGUSR1   that rank calls MPI_Abort
//   SIGUSR2   that rank exits with 3, without MPI_Finalize
//   SIGCONT   all ranks stop together 50 iterations later, as a program should; rank 0 prints whether each result was right
// Rank r and rank r + n/2 exchange 16 KiB, then all agree on how long to go on. Rank 0 says when 20 iterations are over.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { count = 4096 };
static volatile sig_atomic_t told = 0;
static int in[count], out[count];

static void on_signal(int signal) { told = signal; }

int main(int argc, char** argv) {
    int rank, size, wrong = 0, left = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm pair;
    MPI_Comm_split(MPI_COMM_WORLD, rank % (size / 2), rank, &pair);
    signal(SIGUSR1, on_signal);
    signal(SIGUSR2, on_signal);
    signal(SIGCONT, on_signal);
    for (int i = 0; left != 0; ++i) {
        const struct timespec compute = {0, 4000000};
        nanosleep(&compute, NULL);
        if (told == SIGUSR1) MPI_Abort(MPI_COMM_WORLD, 5);
        if (told == SIGUSR2) exit(3);
        for (int k = 0; k < count; ++k) in[k] = i + k + rank;
        MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, pair);
        for (int k = 0; k < count; ++k) wrong += out[k] != 2 * (i + k) + 2 * (rank % (size / 2)) + size / 2;
        int state[2] = {told == SIGCONT, wrong}, all[2];
        MPI_Allreduce(state, all, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (left > 0) --left;
        if (left < 0 && all[0]) left = 50;
        wrong = all[1];
        if (rank == 0 && i == 20) {
            puts("begun");
            fflush(stdout);
        }
    }
    if (rank == 0) puts(wrong ? "wrong" : "all right");
    MPI_Finalize();
    return 0;
}
