// SPDX-License-Identifier: BSD-3-Clause
// The folder of one step on one node, BASE/paced-fabric-UID/SESSION: the ranks' shared segment, the job key and the
// plan lie in it (plugin/step_environment.h). Whoever launches joins it: `paced run` once for each rank, the SPANK
// helper once for the step.
//
// Everything happens below open folder descriptors, never following a link, in a folder that belongs to the user
// and nobody else can enter; /dev/shm itself is everybody's. Launches of one user on one node take turns by a lock on
// paced-fabric-UID, which they hold for some file operations and never wait for longer than a second.
//
// How a dead step is told from a live one: the file `owners` in the folder has a line for each launch, "LOCAL_RANK PID
// START NAMESPACE", of a process that lives as long as the rank (exec keeps pid and start time) or as the step
// (slurmstepd). A folder is dead once all of its owners are certainly gone, and not before it is 30 s old, so that one
// whose ranks still come is left alone. What cannot be told is taken for alive; the worst is then a small folder that
// stays until the node boots.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <unistd.h>

#include "policy/base/result.h"
#include "policy/io/process.h"

namespace paced::io {

inline constexpr char run_folder_base[] = "/dev/shm";
inline constexpr int whole_step = -1;

struct RunFolderRequest {
    std::string base = run_folder_base;
    std::string session;             // [A-Za-z0-9._-]{1,63}, not beginning with a dot
    int local_rank = whole_step;     // of the rank that is launched; whole_step: one launch for all of them
    pid_t owner = getpid();          // who lives as long
    std::string key;                 // what the first launch writes to the file `key`; empty: no key file
};

struct RunFolder {
    std::string path;
    std::string key_file;  // path; empty: there is none
    bool first = false;    // this launch made the folder: it writes the plan and tells what there is to tell
};

// A folder that an earlier launch of the same session left behind (a torchrun with the same run id, a process of this
// local rank that is gone) is put aside and a new one made.
Result<RunFolder> join_run_folder(const RunFolderRequest& request);

struct SweepLimits {
    std::chrono::seconds youngest{30};
    int folders = 16;     // removed at most
    int entries = 1024;   // looked at, at most
    int files = 20'000;   // removed at most in one folder; a folder with more, or with a folder in it, is not ours
};

// Removes this user's run folders of dead steps; how many. Never fails: what cannot be removed stays.
int sweep_dead_run_folders(const std::string& base = run_folder_base, const SweepLimits& limits = {});

bool is_session_name(std::string_view text);

// Anything as a session name: other characters become '-', and where that or the length loses something, a hash of
// the whole text is put behind.
std::string session_name(std::string_view text);

// 64 hexadecimal digits from the kernel; empty where it gives none.
std::string random_key();
// 64 hexadecimal digits of a secret that is the same for all ranks: its own digits, repeated. Empty where it has fewer
// than 32 (128 bits).
std::string key_from_secret(std::string_view secret);

}  // namespace paced::io
