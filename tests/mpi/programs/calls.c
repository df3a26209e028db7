// SPDX-License-Identifier: BSD-3-Clause
// Every recorded collective, number i of them i + 1 times (the last time in place, where there is such a way), some of
// the counted ones, and a checksum of all results. recording_test.cpp knows the figures.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long long sum = 14695981039346656037ull;
static void digest(const int* values, int count) {
    for (int i = 0; i < count; ++i) sum = (sum ^ (unsigned)values[i]) * 1099511628211ull;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    enum { count = 3 };
    const int room = count * size * (size + 1);
    int* in = malloc(sizeof(int) * (size_t)room);
    int* out = malloc(sizeof(int) * (size_t)room);
    int *counts = malloc(sizeof(int) * (size_t)size), *displs = malloc(sizeof(int) * (size_t)size), *own = malloc(sizeof(int) * (size_t)size),
        *even = malloc(sizeof(int) * (size_t)size), *bytes = malloc(sizeof(int) * (size_t)size), *even_bytes = malloc(sizeof(int) * (size_t)size);
    MPI_Datatype* types = malloc(sizeof(MPI_Datatype) * (size_t)size);
    int offset = 0;
    for (int i = 0; i < size; ++i) {
        counts[i] = i + 1;       // rank i's share
        displs[i] = offset;
        bytes[i] = offset * 4;
        own[i] = rank + 1;       // what everybody sends to this rank
        even[i] = i * (rank + 1);
        even_bytes[i] = even[i] * 4;
        types[i] = MPI_INT;
        offset += i + 1;
    }
    const MPI_Comm world = MPI_COMM_WORLD;
    for (int operation = 0; operation < 17; ++operation) {
        for (int call = 0; call <= operation; ++call) {
            const int root = call % size, in_place = call == operation;
            for (int i = 0; i < room; ++i) in[i] = out[i] = rank * 100 + operation * 10 + call + i;
            const void* from = in_place ? MPI_IN_PLACE : in;
            switch (operation) {
                case 0: MPI_Barrier(world); break;
                case 1: MPI_Bcast(out, count, MPI_INT, root, world); break;
                case 2: MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : in, out, count, MPI_INT, MPI_SUM, root, world); break;
                case 3: MPI_Allreduce(from, out, count, MPI_INT, MPI_SUM, world); break;
                case 4: MPI_Allgather(from, in_place ? -1 : count, in_place ? MPI_DATATYPE_NULL : MPI_INT, out, count, MPI_INT, world); break;
                case 5: MPI_Allgatherv(from, in_place ? -1 : rank + 1, in_place ? MPI_DATATYPE_NULL : MPI_INT, out, counts, displs, MPI_INT, world); break;
                case 6: MPI_Gather(in_place && rank == root ? MPI_IN_PLACE : in, count, MPI_INT, out, rank == root ? count : -1, MPI_INT, root, world); break;
                case 7: MPI_Gatherv(in_place && rank == root ? MPI_IN_PLACE : in, rank + 1, MPI_INT, out, rank == root ? counts : NULL, displs, MPI_INT, root, world); break;
                case 8: MPI_Scatter(in, count, MPI_INT, in_place && rank == root ? MPI_IN_PLACE : out, count, MPI_INT, root, world); break;
                case 9: MPI_Scatterv(in, rank == root ? counts : NULL, displs, MPI_INT, in_place && rank == root ? MPI_IN_PLACE : out, rank + 1, MPI_INT, root, world); break;
                case 10: MPI_Alltoall(from, count, MPI_INT, out, count, MPI_INT, world); break;
                case 11: MPI_Alltoallv(in, counts, displs, MPI_INT, out, own, even, MPI_INT, world); break;
                case 12: MPI_Alltoallw(in, counts, bytes, types, out, own, even_bytes, types, world); break;
                case 13: MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, world); break;
                case 14: MPI_Reduce_scatter_block(in, out, count, MPI_INT, MPI_SUM, world); break;
                case 15: MPI_Scan(from, out, count, MPI_INT, MPI_SUM, world); break;
                case 16: MPI_Exscan(in, out, count, MPI_INT, MPI_SUM, world); break;
            }
            digest(out, count);
        }
    }
    MPI_Request request;
    MPI_Ibarrier(world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; ++i) {
        MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, world, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        digest(out, count);
    }
    printf("rank %d of %d: %016llx\n", rank, size, sum);
    MPI_Finalize();
    return 0;
}
