// SPDX-License-Identifier: BSD-3-Clause
// Communicators in the ways that confuse a table keyed by handles: twins, halves, freed and made again.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, value = 1, total;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm first, second, half, merged, inter;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    // Rooted, so that the ranks may use the twins in different orders without waiting for one another.
    for (int i = 0; i < 2; ++i) MPI_Bcast(&value, 1, MPI_INT, 0, (rank + i) % 2 ? first : second);
    for (int i = 0; i < 5; ++i) MPI_Barrier(first);
    for (int i = 0; i < 7; ++i) MPI_Barrier(second);
    for (int i = 0; i < 10; ++i) {  // the same handle, ten communicators
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        for (int call = 0; call <= i; ++call) MPI_Allreduce(&value, &total, 1, MPI_INT, MPI_SUM, half);
        MPI_Comm_free(&half);
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, rank, &half);
    if (half != MPI_COMM_NULL) MPI_Comm_free(&half);
    // Between halves: counted alone.
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, (rank + 1) % 2, 7, &inter);
    for (int i = 0; i < 3; ++i) MPI_Barrier(inter);
    MPI_Intercomm_merge(inter, rank % 2, &merged);
    MPI_Barrier(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&inter);
    MPI_Comm_free(&half);
    for (int i = 0; i < 4; ++i) MPI_Allreduce(&value, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    // More communicators than the segment has room for.
    for (int i = 0; i < 80; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &half);
        MPI_Barrier(half);
        MPI_Comm_free(&half);
    }
    MPI_Pcontrol(0);
    for (int i = 0; i < 6; ++i) MPI_Barrier(first);
    MPI_Pcontrol(1);
    MPI_Pcontrol(2, "mark");
    MPI_Barrier(first);
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    printf("rank %d total %d\n", rank, total);
    MPI_Finalize();
    return 0;
}
