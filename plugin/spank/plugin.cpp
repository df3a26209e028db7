// SPDX-License-Identifier: BSD-3-Clause
// The face towards Slurm: the symbols that it looks up, and nothing else that is visible. Every callback returns 0.
// There is no callback for prolog, epilog or slurmd: one that failed there would drain a node.
#include "plugin/spank/contexts.h"
#include "plugin/spank/order.h"
#include "plugin/spank/state.h"
#include "plugin/spank/switched_off.h"

#ifndef PACED_FABRIC_PLUGIN_VERSION
#define PACED_FABRIC_PLUGIN_VERSION SLURM_VERSION_NUMBER
#endif

using namespace paced::spank;

extern "C" {

#pragma GCC visibility push(default)

// By hand: the constants of SPANK_PLUGIN() have internal linkage in C++, and Slurm would not find them.
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;
const char plugin_name[] = "paced_fabric";
const char plugin_type[] = "spank";
const unsigned int plugin_version = PACED_FABRIC_PLUGIN_VERSION;
const unsigned int spank_plugin_version = 1;

int slurm_spank_init(spank_t spank, int count, char* words[]) {
    switch (spank_context()) {
        case S_CTX_ALLOCATOR: allocator::init(spank, count, words); break;
        case S_CTX_LOCAL: local::init(spank, count, words); break;
        case S_CTX_REMOTE: remote::init(spank, count, words); break;
        default: break;  // slurmd: nothing to do there, so that a new plugin or policy never needs its restart
    }
    return 0;
}

int slurm_spank_init_post_opt(spank_t spank, int, char*[]) {
    if (state.switched_off && spank_context() == S_CTX_ALLOCATOR) switched_off::at_submission();
    if (!state.active) return 0;
    switch (spank_context()) {
        case S_CTX_ALLOCATOR: allocator::init_post_opt(); break;
        case S_CTX_LOCAL: local::init_post_opt(); break;
        case S_CTX_REMOTE: remote::init_post_opt(spank); break;
        default: break;
    }
    return 0;
}

int slurm_spank_local_user_init(spank_t spank, int, char*[]) {
    if (spank_context() == S_CTX_LOCAL && (state.active || state.switched_off)) local::user_init(spank);
    return 0;
}

int slurm_spank_user_init(spank_t spank, int, char*[]) {
    if (state.switched_off && spank_context() == S_CTX_REMOTE) switched_off::in_step(spank);
    if (state.active) remote::user_init(spank);
    return 0;
}

int slurm_spank_task_init(spank_t spank, int, char*[]) {
    order::forget_in_task(spank);  // whatever became of the helper on this node
    if (state.active) task::init(spank);
    return 0;
}

int slurm_spank_task_exit(spank_t spank, int, char*[]) {
    if (state.active) remote::task_exit(spank);
    return 0;
}

int slurm_spank_exit(spank_t spank, int, char*[]) {
    if (state.active && spank_context() == S_CTX_REMOTE) remote::exit(spank);
    return 0;
}

#pragma GCC visibility pop

}  // extern "C"
