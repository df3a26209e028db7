// SPDX-License-Identifier: BSD-3-Clause
// What every mode is: iterations, and a checksum of all that was received.
#pragma once

#include <cstdint>
#include <memory>

#include "options.h"

namespace bsp {

// Collective over MPI_COMM_WORLD in construction and destruction, which must lie between MPI_Init and MPI_Finalize.
class Workload {
public:
    Workload() = default;
    virtual ~Workload() = default;
    Workload(const Workload&) = delete;
    Workload& operator=(const Workload&) = delete;

    virtual void iterate(int iteration) = 0;
    // Of every value received so far on this rank. The same in every run with the same options, since all values are
    // small whole numbers: their sums are exact in any order.
    virtual std::uint64_t checksum() const = 0;
    // Sets of ranks that iterate independently of one another; rank g is a member of set g.
    virtual int independent_groups() const { return 1; }
};

std::unique_ptr<Workload> make_workload(const Options& options);

}  // namespace bsp
