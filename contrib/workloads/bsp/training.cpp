// SPDX-License-Identifier: BSD-3-Clause
#include "training.h"

#include <chrono>
#include <cmath>
#include <thread>

namespace bsp {

Training::Training(const Options& options) : options_(options) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    checksum_ ^= static_cast<std::uint64_t>(rank_);  // ranks that receive the same must not cancel one another
    MPI_Comm_split(MPI_COMM_WORLD, rank_ / options.tensor_parallel, rank_, &tensor_group_);
    MPI_Comm_split(MPI_COMM_WORLD, rank_ % options.tensor_parallel, rank_, &data_group_);
    MPI_Comm_size(data_group_, &group_size_);
    MPI_Comm_rank(data_group_, &group_rank_);
    // a whole number of values for each member, so that all-to-all and ring divide evenly
    const auto members = static_cast<std::size_t>(group_size_);
    const std::size_t wanted = static_cast<std::size_t>(options.bytes) / sizeof(float);
    bucket_.resize((wanted + members - 1) / members * members);
    received_.resize(bucket_.size());
    random_.seed(options.seed * 1'000'003 + static_cast<std::uint64_t>(rank_));
}

Training::~Training() {
    MPI_Comm_free(&tensor_group_);
    MPI_Comm_free(&data_group_);
}

void Training::iterate(int iteration) {
    std::normal_distribution<double> normal;
    const double sigma = options_.jitter;
    iteration_ms_ = options_.compute_ms * std::exp(sigma * normal(random_) - sigma * sigma / 2);
    for (const Straggler& straggler : options_.stragglers)
        if (straggler.rank == rank_) iteration_ms_ += straggler.delay_ms;

    compute(1.0 / 3);
    if (options_.tensor_parallel > 1) {
        fill(iteration, -1);
        MPI_Allreduce(bucket_.data(), received_.data(), static_cast<int>(bucket_.size()), MPI_FLOAT, MPI_SUM, tensor_group_);
        digest(received_);
    }
    for (int bucket = 0; bucket < options_.buckets; ++bucket) {
        compute(2.0 / 3 / options_.buckets);
        exchange(iteration, bucket);
    }
    const double loss = rank_ + iteration;
    double total = 0;
    MPI_Allreduce(&loss, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    digest({static_cast<float>(total)});
}

void Training::compute(double share) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(iteration_ms_ * share);
    if (!options_.spin) std::this_thread::sleep_until(end);
    while (std::chrono::steady_clock::now() < end) {}
}

void Training::exchange(int iteration, int bucket) {
    fill(iteration, bucket);
    const auto count = static_cast<int>(bucket_.size());
    if (options_.mode == Mode::allreduce) MPI_Allreduce(bucket_.data(), received_.data(), count, MPI_FLOAT, MPI_SUM, data_group_);
    if (options_.mode == Mode::alltoall) MPI_Alltoall(bucket_.data(), count / group_size_, MPI_FLOAT, received_.data(), count / group_size_, MPI_FLOAT, data_group_);
    if (options_.mode == Mode::ring) ring_allreduce();
    digest(received_);
}

void Training::fill(int iteration, int bucket) {
    for (std::size_t i = 0; i < bucket_.size(); ++i)
        bucket_[i] = static_cast<float>((static_cast<std::size_t>(rank_ * 31 + iteration * 7 + bucket + 1) + i) % 251);
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

void Training::digest(const std::vector<float>& values) {
    for (const float value : values) checksum_ = (checksum_ ^ static_cast<std::uint64_t>(value)) * 0x100000001b3;
}

}  // namespace bsp
