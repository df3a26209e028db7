// SPDX-License-Identifier: BSD-3-Clause
// The one list of what is wrapped. wrappers.cpp turns each line into a C function, its large-count twin and its
// Fortran spellings; the export test compares what came out with tests/abi/interposer/exports.txt.
//
//   RECORD(Name, name, NAME, arity, large, Shape)  blocking collective: recorded
//   COUNT(Name, name, NAME, arity, large)          counted only: segment.h names them
//   CREATE(Name, name, NAME, arity)                makes a communicator, its last argument, out of its first
//   RELEASE(Name, name, NAME, arity)               ends the communicator that its first argument points to
// arity is that of C; Fortran has ierror more. large: a _c twin exists in MPI 4. Not here, since there is nothing to
// learn from them that would pay for it: point-to-point, Wait and Test, probes. What starts and ends MPI
// and MPI_Pcontrol stand in life.cpp.
#pragma once

#include "plugin/interposer/mpi/shape.h"

#define PACED_RECORDED_FUNCTIONS(RECORD)                                                                              \
    RECORD(Barrier, barrier, BARRIER, 1, 0, (Shape{Rule::nothing, 0}))                                                \
    RECORD(Bcast, bcast, BCAST, 5, 1, (Shape{Rule::count, 4, 1, 2}))                                                  \
    RECORD(Reduce, reduce, REDUCE, 7, 1, (Shape{Rule::count, 6, 2, 3}))                                               \
    RECORD(Allreduce, allreduce, ALLREDUCE, 6, 1, (Shape{Rule::count, 5, 2, 3}))                                      \
    RECORD(Allgather, allgather, ALLGATHER, 7, 1, (Shape{Rule::count, 6, 4, 5}))                                      \
    RECORD(Allgatherv, allgatherv, ALLGATHERV, 8, 1, (Shape{Rule::own_count, 7, 4, 6}))                               \
    RECORD(Gather, gather, GATHER, 8, 1, (Shape{Rule::rooted_count, 7, 1, 2, 6, 4, 5}))                               \
    RECORD(Gatherv, gatherv, GATHERV, 9, 1, (Shape{Rule::rooted_own_count, 8, 1, 2, 7, 4, 6}))                        \
    RECORD(Scatter, scatter, SCATTER, 8, 1, (Shape{Rule::rooted_count, 7, 4, 5, 6, 1, 2}))                            \
    RECORD(Scatterv, scatterv, SCATTERV, 9, 1, (Shape{Rule::rooted_own_count, 8, 5, 6, 7, 1, 3}))                     \
    RECORD(Alltoall, alltoall, ALLTOALL, 7, 1, (Shape{Rule::count_each, 6, 4, 5}))                                    \
    RECORD(Alltoallv, alltoallv, ALLTOALLV, 9, 1, (Shape{Rule::sum, 8, 5, 7}))                                        \
    RECORD(Alltoallw, alltoallw, ALLTOALLW, 9, 1, (Shape{Rule::sum_of_types, 8, 5, 7}))                               \
    RECORD(Reduce_scatter, reduce_scatter, REDUCE_SCATTER, 6, 1, (Shape{Rule::sum, 5, 2, 3}))                         \
    RECORD(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK, 6, 1, (Shape{Rule::count_each, 5, 2, 3})) \
    RECORD(Scan, scan, SCAN, 6, 1, (Shape{Rule::count, 5, 2, 3}))                                                     \
    RECORD(Exscan, exscan, EXSCAN, 6, 1, (Shape{Rule::count, 5, 2, 3}))

#define PACED_COUNTED_WRAPPERS(COUNT)                                                       \
    COUNT(Ibarrier, ibarrier, IBARRIER, 2, 0)                                               \
    COUNT(Ibcast, ibcast, IBCAST, 6, 1)                                                     \
    COUNT(Ireduce, ireduce, IREDUCE, 8, 1)                                                  \
    COUNT(Iallreduce, iallreduce, IALLREDUCE, 7, 1)                                         \
    COUNT(Iallgather, iallgather, IALLGATHER, 8, 1)                                         \
    COUNT(Iallgatherv, iallgatherv, IALLGATHERV, 9, 1)                                      \
    COUNT(Igather, igather, IGATHER, 9, 1)                                                  \
    COUNT(Igatherv, igatherv, IGATHERV, 10, 1)                                              \
    COUNT(Iscatter, iscatter, ISCATTER, 9, 1)                                               \
    COUNT(Iscatterv, iscatterv, ISCATTERV, 10, 1)                                           \
    COUNT(Ialltoall, ialltoall, IALLTOALL, 8, 1)                                            \
    COUNT(Ialltoallv, ialltoallv, IALLTOALLV, 10, 1)                                        \
    COUNT(Ialltoallw, ialltoallw, IALLTOALLW, 10, 1)                                        \
    COUNT(Ireduce_scatter, ireduce_scatter, IREDUCE_SCATTER, 7, 1)                          \
    COUNT(Ireduce_scatter_block, ireduce_scatter_block, IREDUCE_SCATTER_BLOCK, 7, 1)        \
    COUNT(Iscan, iscan, ISCAN, 7, 1)                                                        \
    COUNT(Iexscan, iexscan, IEXSCAN, 7, 1)                                                  \
    COUNT(Barrier_init, barrier_init, BARRIER_INIT, 3, 0)                                   \
    COUNT(Bcast_init, bcast_init, BCAST_INIT, 7, 1)                                         \
    COUNT(Reduce_init, reduce_init, REDUCE_INIT, 9, 1)                                      \
    COUNT(Allreduce_init, allreduce_init, ALLREDUCE_INIT, 8, 1)                             \
    COUNT(Allgather_init, allgather_init, ALLGATHER_INIT, 9, 1)                             \
    COUNT(Allgatherv_init, allgatherv_init, ALLGATHERV_INIT, 10, 1)                         \
    COUNT(Gather_init, gather_init, GATHER_INIT, 10, 1)                                     \
    COUNT(Gatherv_init, gatherv_init, GATHERV_INIT, 11, 1)                                  \
    COUNT(Scatter_init, scatter_init, SCATTER_INIT, 10, 1)                                  \
    COUNT(Scatterv_init, scatterv_init, SCATTERV_INIT, 11, 1)                               \
    COUNT(Alltoall_init, alltoall_init, ALLTOALL_INIT, 9, 1)                                \
    COUNT(Alltoallv_init, alltoallv_init, ALLTOALLV_INIT, 11, 1)                            \
    COUNT(Alltoallw_init, alltoallw_init, ALLTOALLW_INIT, 11, 1)                            \
    COUNT(Reduce_scatter_init, reduce_scatter_init, REDUCE_SCATTER_INIT, 8, 1)              \
    COUNT(Reduce_scatter_block_init, reduce_scatter_block_init, REDUCE_SCATTER_BLOCK_INIT, 8, 1) \
    COUNT(Scan_init, scan_init, SCAN_INIT, 8, 1)                                            \
    COUNT(Exscan_init, exscan_init, EXSCAN_INIT, 8, 1)                                      \
    COUNT(Neighbor_allgather, neighbor_allgather, NEIGHBOR_ALLGATHER, 7, 1)                 \
    COUNT(Neighbor_allgatherv, neighbor_allgatherv, NEIGHBOR_ALLGATHERV, 8, 1)              \
    COUNT(Neighbor_alltoall, neighbor_alltoall, NEIGHBOR_ALLTOALL, 7, 1)                    \
    COUNT(Neighbor_alltoallv, neighbor_alltoallv, NEIGHBOR_ALLTOALLV, 9, 1)                 \
    COUNT(Neighbor_alltoallw, neighbor_alltoallw, NEIGHBOR_ALLTOALLW, 9, 1)                 \
    COUNT(Ineighbor_allgather, ineighbor_allgather, INEIGHBOR_ALLGATHER, 8, 1)              \
    COUNT(Ineighbor_allgatherv, ineighbor_allgatherv, INEIGHBOR_ALLGATHERV, 9, 1)           \
    COUNT(Ineighbor_alltoall, ineighbor_alltoall, INEIGHBOR_ALLTOALL, 8, 1)                 \
    COUNT(Ineighbor_alltoallv, ineighbor_alltoallv, INEIGHBOR_ALLTOALLV, 10, 1)             \
    COUNT(Ineighbor_alltoallw, ineighbor_alltoallw, INEIGHBOR_ALLTOALLW, 10, 1)             \
    COUNT(Neighbor_allgather_init, neighbor_allgather_init, NEIGHBOR_ALLGATHER_INIT, 9, 1)  \
    COUNT(Neighbor_allgatherv_init, neighbor_allgatherv_init, NEIGHBOR_ALLGATHERV_INIT, 10, 1) \
    COUNT(Neighbor_alltoall_init, neighbor_alltoall_init, NEIGHBOR_ALLTOALL_INIT, 9, 1)     \
    COUNT(Neighbor_alltoallv_init, neighbor_alltoallv_init, NEIGHBOR_ALLTOALLV_INIT, 11, 1) \
    COUNT(Neighbor_alltoallw_init, neighbor_alltoallw_init, NEIGHBOR_ALLTOALLW_INIT, 11, 1)

#define PACED_CREATING_FUNCTIONS(CREATE)                                                     \
    CREATE(Comm_dup, comm_dup, COMM_DUP, 2)                                                  \
    CREATE(Comm_dup_with_info, comm_dup_with_info, COMM_DUP_WITH_INFO, 3)                    \
    CREATE(Comm_split, comm_split, COMM_SPLIT, 4)                                            \
    CREATE(Comm_split_type, comm_split_type, COMM_SPLIT_TYPE, 5)                             \
    CREATE(Comm_create, comm_create, COMM_CREATE, 3)                                         \
    CREATE(Comm_create_group, comm_create_group, COMM_CREATE_GROUP, 4)                       \
    CREATE(Cart_create, cart_create, CART_CREATE, 6)                                         \
    CREATE(Cart_sub, cart_sub, CART_SUB, 3)                                                  \
    CREATE(Graph_create, graph_create, GRAPH_CREATE, 6)                                      \
    CREATE(Dist_graph_create, dist_graph_create, DIST_GRAPH_CREATE, 9)                       \
    CREATE(Dist_graph_create_adjacent, dist_graph_create_adjacent, DIST_GRAPH_CREATE_ADJACENT, 10) \
    CREATE(Intercomm_merge, intercomm_merge, INTERCOMM_MERGE, 3)

#define PACED_RELEASING_FUNCTIONS(RELEASE)             \
    RELEASE(Comm_free, comm_free, COMM_FREE, 1)        \
    RELEASE(Comm_disconnect, comm_disconnect, COMM_DISCONNECT, 1)
