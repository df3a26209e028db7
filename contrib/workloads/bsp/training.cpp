// SPDX-License-Identifier: BSD-3-Clause
#include "training.h"

#include "world.h"

namespace bsp {

Training::Training(const Options& options) : options_(options), rank_(world_rank()), compute_(options, rank_), checksum_(rank_) {
    MPI_Comm_split(MPI_COMM_WORLD, rank_ / options.tensor_parallel, rank_, &tensor_group_);
    MPI_Comm_split(MPI_COMM_WORLD, rank_ % options.tensor_parallel, rank_, &data_group_);
    MPI_Comm_size(data_group_, &group_size_);
    MPI_Comm_rank(data_group_, &group_rank_);
    // a whole number of values for each member, so that all-to-all and ring divide evenly
    const auto members = static_cast<std::size_t>(group_size_);
    const std::size_t wanted = static_cast<std::size_t>(options.bytes) / sizeof(float);
    bucket_.resize((wanted + members - 1) / members * members);
    received_.resize(bucket_.size());
}

Training::~Training() {
    MPI_Comm_free(&tensor_group_);
    MPI_Comm_free(&data_group_);
}

void Training::iterate(int iteration) {
    compute_.begin_iteration();
    compute_.run(1.0 / 3);
    if (options_.tensor_parallel > 1) {
        fill(bucket_, rank_, iteration, -1);
        MPI_Allreduce(bucket_.data(), received_.data(), static_cast<int>(bucket_.size()), MPI_FLOAT, MPI_SUM, tensor_group_);
        checksum_.add(received_);
    }
    for (int bucket = 0; bucket < options_.buckets; ++bucket) {
        compute_.run(2.0 / 3 / options_.buckets);
        exchange(iteration, bucket);
    }
    const double loss = rank_ + iteration;
    double total = 0;
    MPI_Allreduce(&loss, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    checksum_.add(std::vector<float>{static_cast<float>(total)});
}

void Training::exchange(int iteration, int bucket) {
    fill(bucket_, rank_, iteration, bucket);
    const auto count = static_cast<int>(bucket_.size());
    if (options_.mode == Mode::allreduce) MPI_Allreduce(bucket_.data(), received_.data(), count, MPI_FLOAT, MPI_SUM, data_group_);
    if (options_.mode == Mode::alltoall) MPI_Alltoall(bucket_.data(), count / group_size_, MPI_FLOAT, received_.data(), count / group_size_, MPI_FLOAT, data_group_);
    if (options_.mode == Mode::ring) ring_allreduce();
    checksum_.add(received_);
}

// Reduce-scatter and all-gather around the ring, by point-to-point calls: an application's own collective.
void Training::ring_allreduce() {
    const int next = (group_rank_ + 1) % group_size_, previous = (group_rank_ + group_size_ - 1) % group_size_;
    const std::size_t part = bucket_.size() / static_cast<std::size_t>(group_size_);
    received_ = bucket_;
    std::vector<float> incoming(part);
    const auto at = [&](int index) { return received_.data() + static_cast<std::size_t>((index + 2 * group_size_) % group_size_) * part; };
    for (int step = 0; step < 2 * (group_size_ - 1); ++step) {
        const bool reducing = step < group_size_ - 1;
        float* const out = at(group_rank_ - step + (reducing ? 0 : group_size_));
        float* const in = at(group_rank_ - step - 1 + (reducing ? 0 : group_size_));
        MPI_Sendrecv(out, static_cast<int>(part), MPI_FLOAT, next, 0, incoming.data(), static_cast<int>(part), MPI_FLOAT, previous, 0, data_group_, MPI_STATUS_IGNORE);
        for (std::size_t i = 0; i < part; ++i) in[i] = reducing ? in[i] + incoming[i] : incoming[i];
    }
}

}  // namespace bsp
