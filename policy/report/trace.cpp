// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/trace.h"

#include <array>

namespace paced::report {

namespace {

constexpr std::array<std::string_view, operation_count> names{
    "barrier", "bcast", "reduce", "allreduce", "allgather", "allgatherv", "gather", "gatherv", "scatter",
    "scatterv", "alltoall", "alltoallv", "alltoallw", "reduce_scatter", "reduce_scatter_block", "scan", "exscan",
};

}  // namespace

std::string_view name_of(Operation operation) {
    const auto index = static_cast<std::size_t>(operation);
    return index < names.size() ? names[index] : "unknown";
}

bool is_synchronizing(Operation operation) {
    switch (operation) {
        case Operation::barrier:
        case Operation::allreduce:
        case Operation::allgather:
        case Operation::allgatherv:
        case Operation::alltoall:
        case Operation::alltoallv:
        case Operation::alltoallw:
        case Operation::reduce_scatter:
        case Operation::reduce_scatter_block: return true;
        default: return false;
    }
}

}  // namespace paced::report
