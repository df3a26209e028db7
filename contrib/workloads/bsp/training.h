// SPDX-License-Identifier: BSD-3-Clause
// Data-parallel training: forward, backward with one exchange a bucket, and at its end the loss, 8 bytes over all ranks.
#pragma once

#include <vector>

#include <mpi.h>

#include "buffers.h"
#include "compute.h"
#include "workload.h"

namespace bsp {

class Training : public Workload {
public:
    explicit Training(const Options& options);
    ~Training() override;

    void iterate(int iteration) override;
    std::uint64_t checksum() const override { return checksum_.value(); }

private:
    void exchange(int iteration, int bucket);
    void ring_allreduce();

    const Options& options_;
    int rank_;
    Compute compute_;
    Checksum checksum_;
    int group_size_ = 1, group_rank_ = 0;
    MPI_Comm tensor_group_ = MPI_COMM_NULL, data_group_ = MPI_COMM_NULL;
    std::vector<float> bucket_, received_;
};

}  // namespace bsp
