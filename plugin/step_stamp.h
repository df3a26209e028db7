// SPDX-License-Identifier: BSD-3-Clause
// PACED_FABRIC_STEP_STAMP: whose step the PACED_FABRIC_STEP_* variables are. `paced run` draws one, the interposer
// asks whether it holds; both use this file, so that they cannot differ. libc only.
//
// Hydra gives its processes no job name. What tells one mpiexec from another (one nested in it, say) is the process at
// the other end of PMI_FD, the proxy that started this rank: pmi:PID of that process, unless PMI_JOBID or PMI_ID name
// the job.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace paced::step {

inline constexpr int stamp_size = 128;  // with its NUL; a longer name cannot be a stamp

using Lookup = const char* (*)(const char* name);
inline const char* from_environment(const char* name) { return std::getenv(name); }

// The parent of a process, 0 where it cannot be known.
inline int parent_of(int pid) {
    if (pid == getpid()) return getppid();
    char path[40];
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    char text[512];
    const ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    if (got <= 0) return 0;
    text[got] = '\0';
    // pid (name) state ppid: the name may hold anything, so look from its last parenthesis
    const char* const behind = std::strrchr(text, ')');
    int parent = 0;
    return behind != nullptr && std::sscanf(behind, ") %*c %d", &parent) == 1 ? parent : 0;
}

inline bool descends_from(int ancestor) {
    int pid = getpid();
    for (int depth = 0; pid > 0 && depth < 64; ++depth) {
        if (pid == ancestor) return true;
        if (pid == 1) return false;
        pid = parent_of(pid);
    }
    return false;
}

// The PID of Hydra's proxy for this process, 0 for none. Where the descriptor is gone by now (some libraries close it
// when they have started), the parent: right unless a script stands between, and then we are inert.
inline int pmi_owner(const char* descriptor) {
    if (descriptor == nullptr || *descriptor == '\0') return 0;
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(std::atoi(descriptor), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0) return peer.pid;
    return getppid();
}

// The stamp that `paced run` gives its program: by what started this process. Not for Slurm steps of the plugin.
inline void draw_stamp(char (&drawn)[stamp_size], Lookup get = from_environment) {
    if (const char* name = get("PMIX_NAMESPACE")) {
        std::snprintf(drawn, sizeof drawn, "pmix:%s", name);
    } else if (const char* job = get("PMI_JOBID")) {
        std::snprintf(drawn, sizeof drawn, "pmi:%s", job);
    } else if (const char* descriptor = get("PMI_FD"); descriptor != nullptr && get("PMI_RANK") != nullptr) {
        std::snprintf(drawn, sizeof drawn, "pmi:%d", pmi_owner(descriptor));
    } else if (const char* run = get("TORCHELASTIC_RUN_ID")) {
        std::snprintf(drawn, sizeof drawn, "torch:%s", run);
    } else {
        std::snprintf(drawn, sizeof drawn, "alone:%d", getpid());
    }
}

inline bool stamp_holds(const char* claimed, Lookup get = from_environment) {
    if (claimed == nullptr) return false;
    const auto after = [claimed](const char* prefix) { return std::strncmp(claimed, prefix, std::strlen(prefix)) == 0 ? claimed + std::strlen(prefix) : nullptr; };
    const auto same = [get](const char* wanted, const char* name) {
        const char* const value = get(name);
        return *wanted != '\0' && value != nullptr && std::strcmp(value, wanted) == 0;
    };
    if (const char* ids = after("slurm:")) {
        const char* const job = get("SLURM_JOB_ID");
        const char* const step = get("SLURM_STEP_ID");
        if (job == nullptr || step == nullptr || *job == '\0' || *step == '\0') return false;
        const std::size_t length = std::strlen(job);
        return std::strncmp(ids, job, length) == 0 && ids[length] == '.' && std::strcmp(ids + length + 1, step) == 0;
    }
    if (const char* name = after("pmix:")) return same(name, "PMIX_NAMESPACE");
    if (const char* run = after("torch:")) return same(run, "TORCHELASTIC_RUN_ID");
    if (const char* job = after("pmi:")) {
        if (get("PMI_JOBID") != nullptr) return same(job, "PMI_JOBID");
        // of an mpiexec around this one too we are a descendant: the descriptor says which is ours
        const int owner = std::atoi(job);
        return owner > 0 && owner == pmi_owner(get("PMI_FD"));
    }
    if (const char* pid = after("alone:")) {
        const int ancestor = std::atoi(pid);
        return ancestor > 1 && descends_from(ancestor);
    }
    return false;
}

}  // namespace paced::step
