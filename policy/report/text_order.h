// SPDX-License-Identifier: BSD-3-Clause
// What an order of hosts costs, in words; the job log, the report and `paced plan` say it alike.
#pragma once

#include <string>
#include <string_view>

#include "policy/report/job_plan.h"

namespace paced::report {

// Whether somebody wanted an order: any pattern but "none".
bool order_wanted(const OrderView& order);

// What is counted: "steps of the ring between leaves". level as in OrderCost.
std::string cost_unit(std::string_view pattern, std::string_view level);

// "steps of the ring between leaves: 8 as submitted, 2 in the chosen order, the fewest possible". Empty: the cost is not known.
std::string leaf_cost_text(const OrderView& order);
// The same, and the levels above that cost anything.
std::string cost_text(const OrderView& order);

}  // namespace paced::report
