// SPDX-License-Identifier: BSD-3-Clause
// The recorded functions as numbers: report::Operation of policy/report/trace.h, which needs libstdc++. A test holds
// the two together.
#pragma once

#include "plugin/interposer/mpi/functions.h"
#include "policy/io/segment.h"

namespace paced::interposer {

enum class Operation : std::uint32_t {
#define PACED_OPERATION(Name, name, NAME, arity, large, shape) name,
    PACED_RECORDED_FUNCTIONS(PACED_OPERATION)
#undef PACED_OPERATION
};
static_assert(static_cast<std::uint32_t>(Operation::exscan) + 1 == segment::operation_limit);

}  // namespace paced::interposer
