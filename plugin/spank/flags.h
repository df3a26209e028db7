// SPDX-License-Identifier: BSD-3-Clause
// The five flags, the names under which each travels, and whether a step asks for anything at all. Pure: no Slurm in it.
#pragma once

#include "plugin/spank/text.h"

namespace paced::spank {

enum Flag { flag_mode, flag_order, flag_bind, flag_window, flag_report, flag_count };

struct FlagNames {
    const char* option;     // --paced-fabric-order, without the dashes
    const char* user;       // the environment variable that a user may set instead
    const char* carried;    // how sbatch, salloc and srun hand the flag on: every SLURM_* variable survives --export
    const char* slurm;      // Slurm's own way to hand it on, lost under --export=NONE on 22.05
    const char* salloc;     // the same from salloc
    const char* to_helper;  // PROTOCOL.md
    const char* argument;   // for --help
    const char* usage;      // for --help
};
extern const FlagNames flag_names[flag_count];

// The job's key, 64 hexadecimal digits.
inline constexpr char carried_key[] = "SLURM_PACED_FABRIC_KEY";
inline constexpr std::size_t key_digits = 64;
bool is_key(std::string_view text) noexcept;

// Given without a text: a bare flag.
struct FlagValue {
    bool given = false;
    Path text;
};
struct Flags {
    FlagValue values[flag_count];
};

// An optional argument that is absent reaches 22.05's callbacks as NULL, "" or "(null)".
std::string_view flag_text(const char* value) noexcept;
// off, observe, pace, explain: right without asking anybody.
bool is_builtin_mode(std::string_view text) noexcept;

enum class Wanted {
    no,            // the mode is off, or nobody asks and there is no policy that could
    site_default,  // nobody asks; the site's policy decides
    asked,         // a flag or the user's environment asks
};

// look_up(name, text) reads one variable of the job: false where it is not set.
template <class LookUp>
Wanted what_is_wanted(const Flags& flags, bool policy_exists, LookUp look_up) noexcept {
    bool asked = false;
    for (int i = 0; i < flag_count; ++i) {
        Path text;
        const bool in_environment = look_up(flag_names[i].user, text) && !text.empty();
        asked = asked || flags.values[i].given || in_environment;
        if (i != flag_mode) continue;
        const std::string_view mode = flags.values[i].given ? flags.values[i].text.view() : text.view();
        if (mode == "off") return Wanted::no;
    }
    if (asked) return Wanted::asked;
    return policy_exists ? Wanted::site_default : Wanted::no;
}

}  // namespace paced::spank
