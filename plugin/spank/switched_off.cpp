// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/spank/switched_off.h"

#include "plugin/spank/environment.h"
#include "plugin/spank/step.h"

namespace paced::spank::switched_off {

void describe(Line& line) noexcept {
    Path kill_switch;
    state.arguments.kill_switch(kill_switch);
    line.assign("off: ");
    line.append(kill_switch.view());
    line.append(" exists");
}

namespace {

void say_it() noexcept {
    Line line;
    describe(line);
    tell("%s", line.c_str());
}

constinit bool said = false;

}  // namespace

void at_submission() noexcept {
    // Once for a heterogeneous job, whose components each come through here.
    if (said || what_is_wanted(state.flags, false, own_variable) != Wanted::asked) return;
    said = true;
    say_it();
}

void in_step(spank_t spank) noexcept {
    if (!is_numbered_step(number_item(spank, S_JOB_STEPID, ~0U)) || number_item(spank, S_JOB_NODEID, 0) != 0) return;
    complete_flags(spank);
    const auto from_job = [spank](const char* name, Path& text) noexcept { return job_variable(spank, name, text); };
    if (what_is_wanted(state.flags, false, from_job) == Wanted::asked && launcher_daemon(spank) == nullptr) say_it();
}

}  // namespace paced::spank::switched_off
