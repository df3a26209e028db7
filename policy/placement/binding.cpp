// SPDX-License-Identifier: BSD-3-Clause
#include "policy/placement/binding.h"

#include "policy/placement/node_table.h"

namespace paced::placement {

NodeBinding bind_tasks(const topology::NodeTopology& node, const BindingRequest& request) {
    NodeBinding binding;
    NodeTable table = node_table(node, request.cpus);
    const int tasks = request.tasks > 0 ? request.tasks : static_cast<int>(table.rows.size());
    for (int task = 0; task < tasks && !table.rows.empty(); ++task) {
        const GpuRow& row = table.rows[static_cast<std::size_t>(task) % table.rows.size()];
        TaskBinding one{task, row.gpu, {}, row.candidates, row.relation, row.nic_down, row.cpus, row.numa, row.reasons};
        if (row.nic && !row.nic_down) one.nics.push_back(*row.nic);
        binding.tasks.push_back(std::move(one));
    }
    binding.warnings = std::move(table.warnings);
    return binding;
}

}  // namespace paced::placement
