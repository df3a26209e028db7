// SPDX-License-Identifier: BSD-3-Clause
#include "triad.h"

#include <algorithm>

#include "world.h"

namespace bsp {

Triad::Triad(const Options& options)
    : options_(options), rank_(world_rank()), left_((rank_ + world_size() - 1) % world_size()), right_((rank_ + 1) % world_size()), checksum_(rank_) {
    const auto edge = std::max<std::size_t>(1, static_cast<std::size_t>(options.bytes) / sizeof(double));
    const std::size_t count = std::max(2 * edge, static_cast<std::size_t>(options.array_mib * (1 << 20)) / sizeof(double));
    a_.resize(count);
    b_.resize(count);
    c_.resize(count);
    from_left_.resize(edge);
    from_right_.resize(edge);
    for (std::size_t i = 0; i < count; ++i) {
        b_[i] = static_cast<double>((static_cast<std::size_t>(rank_) * 31 + i) % 251);
        c_[i] = static_cast<double>(i % 7);
    }
}

void Triad::iterate(int iteration) {
    for (int i = 0; i < options_.sweeps; ++i) sweep();
    exchange_edges();
    if ((iteration + 1) % options_.reduce_every != 0) return;
    const double residual = a_[0];
    std::vector<double> total(1);
    MPI_Allreduce(&residual, total.data(), 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    checksum_.add(total);
}

void Triad::sweep() {
    for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = b_[i] + 2 * c_[i];
    asm volatile("" : : "r"(a_.data()) : "memory");  // or the compiler makes one sweep of several equal ones
}

// What comes from a neighbour is that edge of b in the next iteration. It grows by at most 12 an iteration: exact for ever.
void Triad::exchange_edges() {
    const auto edge = static_cast<int>(from_left_.size());
    MPI_Request requests[4];
    MPI_Irecv(from_left_.data(), edge, MPI_DOUBLE, left_, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(from_right_.data(), edge, MPI_DOUBLE, right_, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(a_.data() + a_.size() - from_left_.size(), edge, MPI_DOUBLE, right_, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(a_.data(), edge, MPI_DOUBLE, left_, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    checksum_.add(from_left_);
    checksum_.add(from_right_);
    std::copy(from_left_.begin(), from_left_.end(), b_.begin());
    std::copy(from_right_.begin(), from_right_.end(), b_.end() - static_cast<std::ptrdiff_t>(from_right_.size()));
}

}  // namespace bsp
