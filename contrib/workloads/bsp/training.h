// SPDX-License-Identifier: BSD-3-Clause
// The loop: forward, backward with one exchange a bucket, and at its end the loss, 8 bytes over all ranks.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include <mpi.h>

#include "options.h"

namespace bsp {

class Training {
public:
    explicit Training(const Options& options);
    ~Training();
    Training(const Training&) = delete;
    Training& operator=(const Training&) = delete;

    void iterate(int iteration);
    // Of every value received so far on this rank. The same in every run with the same options, since all values are
    // small whole numbers: their sums are exact in any order.
    std::uint64_t checksum() const { return checksum_; }

private:
    void compute(double share);
    void exchange(int iteration, int bucket);
    void fill(int iteration, int bucket);
    void ring_allreduce();
    void digest(const std::vector<float>& values);

    const Options& options_;
    int rank_ = 0;
    int group_size_ = 1, group_rank_ = 0;
    MPI_Comm tensor_group_ = MPI_COMM_NULL, data_group_ = MPI_COMM_NULL;
    std::vector<float> bucket_, received_;
    std::mt19937_64 random_;
    double iteration_ms_ = 0;  // this rank's compute in this iteration
    std::uint64_t checksum_ = 0xcbf29ce484222325;
};

}  // namespace bsp
