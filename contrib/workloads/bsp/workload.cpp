// SPDX-License-Identifier: BSD-3-Clause
#include "workload.h"

#include "groups.h"
#include "training.h"
#include "triad.h"

namespace bsp {

std::unique_ptr<Workload> make_workload(const Options& options) {
    if (options.mode == Mode::groups) return std::make_unique<Groups>(options);
    if (options.mode == Mode::triad) return std::make_unique<Triad>(options);
    return std::make_unique<Training>(options);
}

}  // namespace bsp
