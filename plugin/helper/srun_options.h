// SPDX-License-Identifier: BSD-3-Clause
// srun's options, as far as a step's layout is concerned: those of Slurm 22.05 up to 25.11, and of plugins that many
// sites have. What is not in the table is unknown here, and then nothing is certain.
#pragma once

#include <span>
#include <string_view>

namespace paced::helper {

struct SrunOption {
    enum class Takes { nothing, value, maybe };  // maybe: --name=value or -Ivalue, never the next word
    enum class Role {
        harmless,        // does not say which task runs where
        ours,            // --paced-fabric*
        tasks,           // -n, and so on: fine where they say what the job says
        nodes,
        tasks_per_node,
        cpus_per_task,
        job,             // --jobid
        mpi,             // --mpi: not every kind of PMI follows an order
        as_in_job,       // fine where `about` is a variable of the same value
        refused,         // `about` says why
    };
    std::string_view name;
    char letter;  // 0: none
    Takes takes;
    Role role;
    std::string_view about;
};

std::span<const SrunOption> srun_options();

}  // namespace paced::helper
