// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/spank/submission.h"

#include <cstdlib>
#include <sys/random.h>
#include <unistd.h>

#include "plugin/spank/environment.h"
#include "plugin/spank/programs.h"
#include "plugin/spank/spawn.h"
#include "plugin/spank/state.h"

namespace paced::spank {
namespace {

constinit char complaint[16 * 1024 + 1];
constinit bool key_drawn = false;

// Slurm puts "sbatch: " before each line; that it is an error the lines say themselves.
void print_lines(char* text, std::size_t size) noexcept {
    text[size] = '\0';
    for (std::string_view left{text, size}; !left.empty();) {
        const std::string_view line = cut_until(left, '\n');
        slurm_spank_log("%.*s", static_cast<int>(line.size()), line.data());
    }
}

bool draw(char (&digits)[key_digits + 1]) noexcept {
    unsigned char bytes[key_digits / 2];
    if (getrandom(bytes, sizeof bytes, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof bytes)) return false;
    constexpr char hexadecimal[] = "0123456789abcdef";
    for (std::size_t i = 0; i < sizeof bytes; ++i) {
        digits[2 * i] = hexadecimal[bytes[i] >> 4];
        digits[2 * i + 1] = hexadecimal[bytes[i] & 15];
    }
    return true;
}

}  // namespace

bool is_accepted(Flag flag, std::string_view text) noexcept {
    if (flag == flag_mode && (text.empty() || is_builtin_mode(text))) return true;
    const char* const checked = std::getenv(flag_names[flag].carried);
    if (checked != nullptr && text == checked) return true;  // srun inherits what sbatch has checked

    Path helper, value;
    if (!find_program("paced-fabric-helper", helper) || !value.assign(text)) {
        slurm_debug("paced-fabric: no helper program, --%s is not checked here", flag_names[flag].option);
        return true;
    }
    HelperEnvironment& environment = HelperEnvironment::fresh();
    environment.take_from(environ);
    environment.set("CONFIG", state.arguments.config.view());
    if (!environment.complete()) return true;

    const char* const program[] = {helper.c_str(), "check-flag", flag_names[flag].option, value.c_str(), nullptr};
    Child child;
    child.program = program;
    child.environment = environment.get();
    child.deadline_ms = state.arguments.deadline_ms;
    child.output = complaint;
    child.room = sizeof complaint - 1;
    child.captured_fd = 2;
    const Outcome outcome = run(child);
    if (outcome.ending == Ending::exited && outcome.code == 1 && outcome.size > 0) {
        print_lines(complaint, outcome.size);
        return false;
    }
    Words words;
    describe(outcome, child.deadline_ms, words);
    if (!outcome.good()) slurm_verbose("paced-fabric: the helper %s, --%s is not checked here", words.c_str(), flag_names[flag].option);
    return true;
}

void forget_inherited() noexcept {
    for (const FlagNames& names : flag_names) {
        unsetenv(names.carried);
        unsetenv(names.slurm);
        unsetenv(names.salloc);
    }
    unsetenv(carried_key);
}

void hand_on(bool draw_key) noexcept {
    for (int i = 0; i < flag_count; ++i) {
        const FlagValue& value = state.flags.values[i];
        if (value.given) setenv(flag_names[i].carried, value.text.c_str(), 1);
    }
    if (what_is_wanted(state.flags, exists(state.arguments.config.c_str()), own_variable) == Wanted::no) return;

    // Once for a heterogeneous job, whose components each come through here.
    if (key_drawn) return;
    const char* const present = std::getenv(carried_key);
    if (!draw_key && present != nullptr && is_key(present)) return;
    char key[key_digits + 1] = {};
    unsetenv(carried_key);
    if (draw(key)) setenv(carried_key, key, 1);
    key_drawn = true;
}

}  // namespace paced::spank
