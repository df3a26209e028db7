// SPDX-License-Identifier: BSD-3-Clause
#include "groups.h"

#include "world.h"

namespace bsp {

Groups::Groups(const Options& options) : options_(options), rank_(world_rank()), compute_(options, rank_), checksum_(rank_) {
    MPI_Comm_split(MPI_COMM_WORLD, rank_ % options.groups, rank_, &group_);
    bucket_.resize(static_cast<std::size_t>(options.bytes) / sizeof(float));
    received_.resize(bucket_.size());
}

Groups::~Groups() { MPI_Comm_free(&group_); }

void Groups::iterate(int iteration) {
    compute_.begin_iteration();
    for (int bucket = 0; bucket < options_.buckets; ++bucket) {
        compute_.run(1.0 / options_.buckets);
        fill(bucket_, rank_, iteration, bucket);
        MPI_Allreduce(bucket_.data(), received_.data(), static_cast<int>(bucket_.size()), MPI_FLOAT, MPI_SUM, group_);
        checksum_.add(received_);
    }
    if (!options_.synchronous) return;
    const double loss = rank_ + iteration;
    std::vector<double> total(1);
    MPI_Allreduce(&loss, total.data(), 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    checksum_.add(total);
}

}  // namespace bsp
