// SPDX-License-Identifier: BSD-3-Clause
// Groups of ranks that train side by side and share nothing but the fabric: compute, an all-reduce within the group, repeat.
// Member j of group g is rank g + j * groups, so that with one rank a node, and nodes that share a leaf beside one
// another in the list, every group lies under several leaves. No call in the loop is over all ranks: a group that is ahead
// stays ahead. With --synchronous the loss over all ranks ends each iteration, and whatever holds up one group holds up all.
#pragma once

#include <vector>

#include <mpi.h>

#include "buffers.h"
#include "compute.h"
#include "workload.h"

namespace bsp {

class Groups : public Workload {
public:
    explicit Groups(const Options& options);
    ~Groups() override;

    void iterate(int iteration) override;
    std::uint64_t checksum() const override { return checksum_.value(); }
    int independent_groups() const override { return options_.synchronous ? 1 : options_.groups; }

private:
    const Options& options_;
    int rank_;
    Compute compute_;
    Checksum checksum_;
    MPI_Comm group_ = MPI_COMM_NULL;
    std::vector<float> bucket_, received_;
};

}  // namespace bsp
