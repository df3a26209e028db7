// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/spank/options.h"

#include "plugin/spank/state.h"
#include "plugin/spank/submission.h"

namespace paced::spank {
namespace {

// In slurmstepd this may come twice, the second time with "" for no value: the last one holds. Not to be 0 is a
// refusal in sbatch, salloc and srun; in slurmstepd it would only be logged.
extern "C" int paced_fabric_take_flag(int flag, const char* value, int remote) {
    if (flag < 0 || flag >= flag_count) return 0;
    const std::string_view text = flag_text(value);
    FlagValue& taken = state.flags.values[flag];
    if (state.switched_off) {  // unchecked: whether anybody asks is all that is needed
        taken.given = true;
        taken.text.assign(text);
    }
    if (!state.active) return 0;
    if (text.size() >= taken.text.room()) {
        if (remote == 0) slurm_spank_log("--%s: error: the value is longer than %zu characters", flag_names[flag].option, taken.text.room() - 1);
        return remote == 0 ? -1 : 0;
    }
    if (remote == 0 && !is_accepted(static_cast<Flag>(flag), text)) return -1;
    taken.given = true;
    taken.text.assign(text);
    return 0;
}

}  // namespace

bool register_options(spank_t spank) noexcept {
    for (int flag = 0; flag < flag_count; ++flag) {
        const FlagNames& names = flag_names[flag];
        // The argument of --paced-fabric alone is optional. Slurm copies the strings, and never writes to them.
        spank_option option{const_cast<char*>(names.option), const_cast<char*>(names.argument), const_cast<char*>(names.usage),
                            flag == flag_mode ? 2 : 1, flag, paced_fabric_take_flag};
        if (spank_option_register(spank, &option) != ESPANK_SUCCESS) return false;
    }
    return true;
}

}  // namespace paced::spank
