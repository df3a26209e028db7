// SPDX-License-Identifier: BSD-3-Clause
// A memory-bound solver: a[i] = b[i] + 2 c[i] over arrays larger than a cache, the edges to both neighbours in a ring, and now and
// then one number over all ranks. Ranks of a node share its memory, so here it is good that they drift apart: some
// communicate while others have the memory for themselves (Afzal, Hager, Wellein: "Desynchronization and wave pattern formation
// in MPI-parallel and hybrid memory-bound programs", 2020). Whoever aligns them makes it slower.
#pragma once

#include <vector>

#include <mpi.h>

#include "buffers.h"
#include "workload.h"

namespace bsp {

class Triad : public Workload {
public:
    explicit Triad(const Options& options);

    void iterate(int iteration) override;
    std::uint64_t checksum() const override { return checksum_.value(); }

private:
    void sweep();
    void exchange_edges();

    const Options& options_;
    int rank_, left_, right_;
    Checksum checksum_;
    std::vector<double> a_, b_, c_;
    std::vector<double> from_left_, from_right_;
};

}  // namespace bsp
